#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "real/transport/wire.h"

// A ring of messages in memory that one process writes and another reads: lines, and beside them a ring for what is long.
//
//     lines      | stamp 8 | short header 32 | payload …, padded to 64 |   a whole message of up to 1 KiB
//                | stamp 8 | header 48 | 8   | payload …, padded to 64 |   anything else of up to 1 KiB
//                | stamp 8 | header 48 | 8   |                             what is longer, with its
//     payloads   | payload, padded to 64 |                                 payload there
//
// The stamp is written last and tells the reader that a message is there: what a place in the ring was used for before
// never looks so, as a stamp is the writer's count of bytes plus a random number. So a message of up to 24 bytes comes in
// one cache line, and the reader needs to look at no other. The lines are so few that both sides keep them in their
// fastest cache, however many messages there are. Neither side trusts what the other wrote: headers are copied before
// they are looked at, and counts and lengths are checked against the ring's size.

namespace tutti::real {

inline constexpr std::size_t kLine = 64;  ///< bytes of a cache line
/// Payloads up to here lie behind their header.
inline constexpr std::int64_t kMostAmongLines = 1 << 10;

/// Lies in shared memory. What one side writes has cache lines of its own.
struct RingCounts {
  alignas(kLine) std::atomic<std::uint64_t> nonce;        ///< by the writer, once
  std::atomic<std::uint32_t> writer_waits;                ///< for room
  alignas(kLine) std::atomic<std::uint64_t> lines_taken;  ///< bytes, by the reader
  std::atomic<std::uint64_t> payloads_taken;              ///< bytes, by the reader
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

/// One direction between two processes. Both parts are mapped twice in a row, so that nothing in them has a gap.
struct RingMemory {
  RingCounts& counts;
  std::byte* lines = nullptr;
  std::byte* payloads = nullptr;
  std::size_t line_bytes = 0;  ///< powers of two, and at least 2 · kMostAmongLines
  std::size_t payload_bytes = 0;
};

/// What a message takes of a ring.
struct RingShare {
  std::size_t lines = kLine;   ///< bytes, its header's included
  std::size_t payloads = 0;    ///< bytes
  std::size_t payload_at = 0;  ///< from the beginning of its line, if it lies there

  static RingShare of(const Header& header);
};

class RingWriter {
 public:
  /// REQUIRES: the memory outlives the writer.
  explicit RingWriter(const RingMemory& memory);

  /// Room for a message: where its payload goes; null if there is none at present, or the counts make no sense.
  /// REQUIRES: its payload is not longer than RingMemory::payload_bytes.
  std::byte* reserve(const Header& header);
  /// Shows the reader the message that was reserved last. REQUIRES: its payload is there.
  void publish(const Header& header);
  /// The reader is to tell when it has taken something, or need not any more.
  void wait_for_room(bool waits) { memory_.counts.writer_waits.store(waits ? 1 : 0, std::memory_order_seq_cst); }

 private:
  RingMemory memory_;
  std::uint64_t nonce_;
  /// Bytes written, and taken as last seen.
  std::uint64_t lines_ = 0, lines_taken_ = 0;
  std::uint64_t payloads_ = 0, payloads_taken_ = 0;
};

class RingReader {
 public:
  /// REQUIRES: the writer has been made.
  explicit RingReader(const RingMemory& memory);

  struct Message {
    Header header;
    const std::byte* payload = nullptr;
  };
  [[nodiscard]] bool empty() const;
  /// The next message, which stays until it is released. Nothing if there is none, or what is there is none: see broken().
  std::optional<Message> front();
  /// Gives the room of that message back.
  void release();
  /// The writer waits for room. Comes after what it is to see, and a fence.
  [[nodiscard]] bool writer_waits() const { return memory_.counts.writer_waits.load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  RingMemory memory_;
  std::uint64_t nonce_;
  std::uint64_t lines_ = 0, payloads_ = 0;  ///< bytes taken
  RingShare at_hand_;
  bool broken_ = false;
};

}  // namespace tutti::real
