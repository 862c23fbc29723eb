#include "real/transport/ring.h"

#include <gtest/gtest.h>

#include <sys/mman.h>
#include <unistd.h>

#include <cstring>
#include <limits>
#include <vector>

#include "core/base/random.h"
#include "real/transport/shared_memory.h"

namespace tutti::real {
namespace {

constexpr std::size_t kBytes = 64 << 10;

struct Both {
  Both()
      : memory(*SharedMemory::create(kBytes)),
        data(*memory.map_twice(0, kBytes)),
        writer(counts, data.begin(), kBytes),
        reader(counts, data.begin(), kBytes) {}
  SharedMemory memory;
  Mapping data;
  RingCounts counts{};
  RingWriter writer;
  RingReader reader;
};

Header piece_of(std::int64_t length, std::int64_t number) {
  return {Header::Kind::kPiece, {{{0, 0}, 1, 2, 3, 4}, length + number, number, length}};
}

TEST(Ring, MessagesOfAllLengthsComeWholeAndInOrderRoundAndRound) {
  Both ring;
  core::Random random(7);
  std::vector<std::int64_t> waiting;
  std::int64_t written = 0, read = 0;
  while (read < 5000) {
    const auto length = static_cast<std::int64_t>(random.below(20'000));
    if (std::byte* const room = written < 5000 ? ring.writer.reserve(length) : nullptr) {
      std::memset(room, static_cast<int>(written % 251), static_cast<std::size_t>(length));
      ring.writer.publish(encode(piece_of(length, written)), length);
      waiting.push_back(length);
      ++written;
      if (random.below(3) > 0) continue;
    }
    while (read < written && random.below(4) > 0) {
      const auto message = ring.reader.front();
      ASSERT_TRUE(message);
      EXPECT_EQ(message->header.piece.offset, read);
      ASSERT_EQ(message->header.piece.length, waiting[static_cast<std::size_t>(read)]);
      for (std::int64_t i = 0; i < message->header.piece.length; ++i)
        ASSERT_EQ(message->payload[i], static_cast<std::byte>(read % 251));
      EXPECT_FALSE(ring.reader.release(message->header.piece.length));
      ++read;
    }
  }
  EXPECT_TRUE(ring.reader.empty());
  EXPECT_FALSE(ring.reader.broken());
}

TEST(Ring, AFullRingHasNoRoomUntilSomethingIsTaken) {
  Both ring;
  const std::int64_t half = kBytes / 2 - static_cast<std::int64_t>(kLine);
  for (int i = 0; i < 2; ++i) {
    ASSERT_TRUE(ring.writer.reserve(half));
    ring.writer.publish(encode(piece_of(half, i)), half);
  }
  EXPECT_FALSE(ring.writer.reserve(0));
  ring.writer.wait_for_room(true);
  ASSERT_TRUE(ring.reader.front());
  EXPECT_TRUE(ring.reader.release(half)) << "the writer is to be told";
  EXPECT_TRUE(ring.writer.reserve(half));
}

/// Whatever the other side writes into counts and headers: nothing outside of the ring is read, and it is said.
TEST(Ring, NothingThatTheOtherSideWritesIsTrusted) {
  {
    Both ring;  // a payload that is longer than the ring
    ASSERT_TRUE(ring.writer.reserve(100));
    ring.writer.publish(encode(piece_of(1 << 20, 0)), 100);
    EXPECT_FALSE(ring.reader.front());
    EXPECT_TRUE(ring.reader.broken());
  }
  {
    Both ring;  // no header
    ASSERT_TRUE(ring.writer.reserve(100));
    ring.writer.publish(HeaderBytes{}, 100);
    EXPECT_FALSE(ring.reader.front());
    EXPECT_TRUE(ring.reader.broken());
  }
  for (const std::uint64_t taken : {std::uint64_t{1} << 40, std::numeric_limits<std::uint64_t>::max()}) {
    Both ring;
    const std::int64_t all = kBytes - static_cast<std::int64_t>(kLine);
    ASSERT_TRUE(ring.writer.reserve(all));
    ring.writer.publish(encode(piece_of(all, 0)), all);
    ring.counts.taken.store(taken);
    EXPECT_FALSE(ring.writer.reserve(0)) << "more was taken than ever was there";
  }
}

TEST(Ring, WhatLiesThereFromBeforeIsNoMessage) {
  Both ring;
  const std::int64_t long_payload = 64 * 30;
  for (int i = 0; i < 2000; ++i) {
    std::byte* const room = ring.writer.reserve(long_payload);
    ASSERT_TRUE(room);
    // Every line of the payload looks like a short message.
    for (std::int64_t at = 0; at < long_payload; at += kLine)
      std::memcpy(room + at, encode(piece_of(4, i)).data(), kHeaderBytes);
    ring.writer.publish(encode(piece_of(long_payload, i)), long_payload);
    ASSERT_TRUE(ring.reader.front());
    ring.reader.release(long_payload);
    ASSERT_TRUE(ring.reader.empty()) << i;
    ASSERT_TRUE(ring.writer.reserve(4));
    ring.writer.publish(encode(piece_of(4, i)), 4);
    ASSERT_TRUE(ring.reader.front());
    ring.reader.release(4);
    ASSERT_TRUE(ring.reader.empty()) << i;
  }
}

TEST(SharedMemory, NobodyCanShrinkIt) {
  const auto memory = SharedMemory::create(kBytes);
  ASSERT_TRUE(memory);
  EXPECT_NE(::ftruncate(memory->number(), 0), 0);
  EXPECT_TRUE(SharedMemory::open(::getpid(), memory->number(), kBytes));
  EXPECT_FALSE(SharedMemory::open(::getpid(), memory->number(), 2 * kBytes)) << "another length";
  EXPECT_FALSE(SharedMemory::open(::getpid(), 0, kBytes)) << "something else";
  const int open_to_change = ::memfd_create("test", MFD_ALLOW_SEALING);
  ASSERT_EQ(::ftruncate(open_to_change, kBytes), 0);
  EXPECT_FALSE(SharedMemory::open(::getpid(), open_to_change, kBytes)) << "its owner could shrink it";
  ::close(open_to_change);
}

}  // namespace
}  // namespace tutti::real
