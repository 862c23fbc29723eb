#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "real/transport/wire.h"

// A ring of messages in memory that one process writes and another reads: lines, and a second ring
// for long payloads.
//
//     lines      | stamp 8 | short header 32 | payload …, padded to 64 |  a message up to 1 KiB
//                | stamp 8 | header 48 | 8   | payload …, padded to 64 |  other kinds up to 1 KiB
//                | stamp 8 | header 48 | 8   |                            longer, with its payload
//                in
//     payloads   | payload, padded to 64 |                                the second ring
//
// The stamp is written last and tells the reader that a message is there. A stamp is the writer's
// count of bytes plus a random number, so stale data in the ring never looks like one. A message of
// up to 24 bytes takes one cache line, and the reader touches no other. There are so few lines that
// both sides keep them in their first-level cache, however many messages there are. Neither side
// trusts what the other wrote: headers are copied before they are read, and counts and lengths are
// checked against the ring's size.

namespace tutti::real {

inline constexpr std::size_t kLine = 64;  ///< size of a cache line in bytes
/// Payloads up to this size directly follow their header.
inline constexpr std::int64_t kMaxAmongLines = 1 << 10;

/// Lies in shared memory. The fields that each side writes have their own cache lines.
struct RingCounts {
  alignas(kLine) std::atomic<std::uint64_t> nonce;  ///< written once, by the writer
  /// True while the writer waits for free space.
  std::atomic<std::uint32_t> writer_waits;
  alignas(kLine) std::atomic<std::uint64_t> lines_taken;  ///< lines taken by the reader, in bytes
  /// Payloads taken by the reader, in bytes.
  std::atomic<std::uint64_t> payloads_taken;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);

/// One direction between two processes. Both parts are mapped twice in a row, so that every message
/// is contiguous.
struct RingMemory {
  RingCounts& counts;
  std::byte* lines = nullptr;
  std::byte* payloads = nullptr;
  std::size_t line_bytes = 0;  ///< sizes in bytes: powers of two, and at least 2 · kMaxAmongLines
  std::size_t payload_bytes = 0;
};

/// The space that a message takes in a ring.
struct RingShare {
  std::size_t lines = kLine;   ///< bytes among the lines, including the message's header
  std::size_t payloads = 0;    ///< bytes among the payloads
  std::size_t payload_at = 0;  ///< offset from the beginning of the line, if the payload is there

  static RingShare of(const Header& header);
};

class RingWriter {
 public:
  /// REQUIRES: the memory outlives the writer.
  explicit RingWriter(const RingMemory& memory);

  /// Reserves space for a message and returns where its payload goes; null if there is no space at
  /// present, or the counts are invalid.
  /// REQUIRES: its payload is not longer than RingMemory::payload_bytes.
  std::byte* reserve(const Header& header);
  /// Makes the message that was reserved last visible to the reader. REQUIRES: its payload is
  /// there.
  void publish(const Header& header);
  /// Sets whether the reader has to wake the writer when it has taken something.
  void wait_for_room(bool waits) {
    memory_.counts.writer_waits.store(waits ? 1 : 0, std::memory_order_seq_cst);
  }

 private:
  RingMemory memory_;
  std::uint64_t nonce_;
  /// Bytes written, and the last known counts of bytes taken.
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
  /// Returns the next message, which stays until it is released; nothing if there is none, or it is
  /// invalid: see broken().
  std::optional<Message> front();
  /// Frees the space of that message.
  void release();
  /// True if the writer waits for space. To be called after the changes that it is to see, and a
  /// fence.
  [[nodiscard]] bool writer_waits() const {
    return memory_.counts.writer_waits.load(std::memory_order_relaxed) != 0;
  }
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  RingMemory memory_;
  std::uint64_t nonce_;
  std::uint64_t lines_ = 0, payloads_ = 0;  ///< bytes taken so far
  RingShare at_hand_;
  bool broken_ = false;
};

}  // namespace tutti::real
