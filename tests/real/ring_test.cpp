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

constexpr std::size_t kLineBytes = 8 << 10;
constexpr std::size_t kBytes = 64 << 10;

struct Both {
  Both()
      : memory(*SharedMemory::create(kLineBytes + kBytes)),
        lines(*memory.map_twice(0, kLineBytes, Touch::kNow)),
        payloads(*memory.map_twice(kLineBytes, kBytes)),
        writer({counts, lines.begin(), payloads.begin(), kLineBytes, kBytes}),
        reader({counts, lines.begin(), payloads.begin(), kLineBytes, kBytes}) {}
  SharedMemory memory;
  Mapping lines, payloads;
  RingCounts counts{};
  RingWriter writer;
  RingReader reader;
};

/// Returns the header of a whole message if `number` is 0, and otherwise of the last piece of a
/// message.
Header piece_of(std::int64_t length, std::int64_t number) {
  return {Header::Kind::kPiece, {{{5, 6}, 1, 2, 3, 4}, length + number, number, length, 77}};
}

/// Returns a random length. Some payloads are short enough to be stored among the lines.
std::int64_t length_of(core::Random& random) {
  return static_cast<std::int64_t>(random.below(random.below(2) == 0 ? 1200 : 20'000));
}

TEST(Ring, DeliversMessagesOfAllLengthsInOrder) {
  Both ring;
  core::Random random(7);
  std::vector<Header> waiting;
  std::int64_t written = 0, read = 0;
  while (read < 5000) {
    const Header header = piece_of(length_of(random), written % 3 == 0 ? 0 : written);
    if (std::byte* const room = written < 5000 ? ring.writer.reserve(header) : nullptr) {
      std::memset(room, static_cast<int>(written % 251),
                  static_cast<std::size_t>(header.piece.length));
      ring.writer.publish(header);
      waiting.push_back(header);
      ++written;
      if (random.below(3) > 0) continue;
    }
    while (read < written && random.below(4) > 0) {
      const auto message = ring.reader.front();
      ASSERT_TRUE(message);
      const Header& sent = waiting[read];
      ASSERT_EQ(encode(message->header), encode(sent));
      for (std::int64_t i = 0; i < message->header.piece.length; ++i)
        ASSERT_EQ(message->payload[i], static_cast<std::byte>(read % 251));
      ring.reader.release();
      EXPECT_FALSE(ring.reader.writer_waits());
      ++read;
    }
  }
  EXPECT_TRUE(ring.reader.empty());
  EXPECT_FALSE(ring.reader.broken());
}

/// Payloads are stored among the lines or in their own area, depending on their length.
TEST(Ring, AFullRingHasNoRoomUntilAMessageIsRead) {
  for (const std::int64_t length : {kMaxAmongLines, std::int64_t{kBytes / 2}}) {
    Both ring;
    const Header header = piece_of(length, 0);
    int there = 0;
    for (; ring.writer.reserve(header); ++there) ring.writer.publish(header);
    EXPECT_EQ(there, length > kMaxAmongLines
                         ? 2
                         : static_cast<int>(kLineBytes / RingShare::of(header).lines));
    ring.writer.wait_for_room(true);
    ASSERT_TRUE(ring.reader.front());
    ring.reader.release();
    EXPECT_TRUE(ring.reader.writer_waits());
    EXPECT_TRUE(ring.writer.reserve(header));
    ring.writer.wait_for_room(false);
    EXPECT_FALSE(ring.reader.writer_waits());
  }
}

TEST(Ring, AMessageOf24BytesNeedsOneCacheLine) {
  EXPECT_EQ(RingShare::of(piece_of(24, 0)).lines, kLine);
  EXPECT_EQ(RingShare::of(piece_of(25, 0)).lines, 2 * kLine);
  EXPECT_EQ(RingShare::of({Header::Kind::kSlot, {}}).lines, kLine);
}

bool lies_in(const std::byte* begin, std::int64_t length, const Mapping& mapping,
             std::size_t bytes) {
  return begin >= mapping.begin() && begin + length <= mapping.begin() + 2 * bytes;
}

/// The other side may write any bytes as a header. No payload may then lie outside the ring, and
/// invalid headers are reported.
TEST(Ring, ChecksEveryHeader) {
  core::Random random(3);
  int refused = 0, taken = 0;
  for (int i = 0; i < 20'000; ++i) {
    Both ring;
    const Header header = piece_of(length_of(random), random.below(2) == 0 ? 0 : 8);
    ASSERT_TRUE(ring.writer.reserve(header));
    ring.writer.publish(header);
    // Changes one byte of the header, or one of its numbers, or its kind (including kinds that do
    // not exist).
    std::byte* const at = ring.lines.begin() + sizeof(std::uint64_t);
    at[random.below(kHeaderBytes)] = static_cast<std::byte>(random.below(256));
    const auto any = static_cast<std::int32_t>(random.below(std::uint64_t{1} << 32));
    if (random.below(2) == 0)
      std::memcpy(at + 4 * random.below(kHeaderBytes / 4), &any, sizeof any);
    if (random.below(2) == 0) at[0] = static_cast<std::byte>(random.below(5));
    const auto message = ring.reader.front();
    EXPECT_NE(message.has_value(), ring.reader.broken());
    ++(message ? taken : refused);
    if (!message) continue;
    const Piece& piece = message->header.piece;
    const std::int64_t length = message->header.kind == Header::Kind::kPiece ? piece.length : 0;
    EXPECT_TRUE(lies_in(message->payload, length, ring.lines, kLineBytes) ||
                lies_in(message->payload, length, ring.payloads, kBytes))
        << i;
  }
  EXPECT_GT(refused, 1000);
  EXPECT_GT(taken, 1000);
}

/// The other side may also write any counts.
TEST(Ring, RefusesImpossibleCountsOfTheOtherSide) {
  for (const std::uint64_t taken :
       {std::uint64_t{1} << 40, std::numeric_limits<std::uint64_t>::max()}) {
    for (const std::int64_t length : {kMaxAmongLines, std::int64_t{kBytes}}) {
      Both ring;
      const Header header = piece_of(length, 0);
      while (ring.writer.reserve(header)) ring.writer.publish(header);
      ring.counts.lines_taken.store(taken);
      ring.counts.payloads_taken.store(taken);
      EXPECT_FALSE(ring.writer.reserve(header));
    }
  }
}

TEST(Ring, OldBytesAreNotReadAsMessages) {
  Both ring;
  const std::int64_t long_payload = 64 * 15;
  for (int i = 0; i < 2000; ++i) {
    const Header header = piece_of(long_payload, i);
    std::byte* const room = ring.writer.reserve(header);
    ASSERT_TRUE(room);
    // Every line of the payload looks like a short message, except that the stamp does not fit its
    // place.
    for (std::int64_t at = 0; at < long_payload; at += kLine)
      std::memcpy(room + at, encode(piece_of(4, i)).data(), kHeaderBytes);
    ring.writer.publish(header);
    ASSERT_TRUE(ring.reader.front());
    ring.reader.release();
    ASSERT_TRUE(ring.reader.empty()) << i;
    ASSERT_TRUE(ring.writer.reserve(piece_of(4, i)));
    ring.writer.publish(piece_of(4, i));
    ASSERT_TRUE(ring.reader.front());
    ring.reader.release();
    ASSERT_TRUE(ring.reader.empty()) << i;
  }
}

TEST(SharedMemory, CannotBeShrunk) {
  const auto memory = SharedMemory::create(kBytes);
  ASSERT_TRUE(memory);
  EXPECT_NE(::ftruncate(memory->number(), 0), 0);
  EXPECT_TRUE(SharedMemory::open(::getpid(), memory->number(), kBytes));
  EXPECT_FALSE(SharedMemory::open(::getpid(), memory->number(), 2 * kBytes)) << "another length";
  EXPECT_FALSE(SharedMemory::open(::getpid(), 0, kBytes)) << "something else";
  const int open_to_change = ::memfd_create("test", MFD_ALLOW_SEALING);
  ASSERT_EQ(::ftruncate(open_to_change, kBytes), 0);
  EXPECT_FALSE(SharedMemory::open(::getpid(), open_to_change, kBytes))
      << "its owner could shrink it";
  ::close(open_to_change);
}

}  // namespace
}  // namespace tutti::real
