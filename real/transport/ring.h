#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "real/transport/wire.h"

// A ring of messages in shared memory that one process writes and another reads. It consists of a
// ring of cache lines, and a second ring for payloads longer than 1 KiB.
//
//     ring of lines:
//       stamp 8, short header 32, payload, padding to 64        a whole message of up to 1 KiB
//       stamp 8, header 48, padding 8, payload, padding to 64   a piece of up to 1 KiB
//       stamp 8, header 48, padding 8                           the header of a longer piece,
//                                                               or a report of a free slot
//     ring of payloads:
//       payload, padding to 64                                  the payload of the longer piece
//
// The numbers are sizes in bytes, and "to 64" means up to a multiple of 64 bytes.
//
// The writer writes the stamp last, so a valid stamp means that the message is complete. A stamp is
// the writer's count of bytes plus a random number, so stale data in the ring never looks like a
// stamp. A message of up to 24 bytes takes one cache line, which is the only line that the reader
// accesses. The ring of lines is so small that it stays in the first-level caches of both sides,
// regardless of the number of messages. Writer and reader do not trust each other's data. Headers
// are copied before they are read, and counts and lengths are checked against the ring's size.

namespace tutti::real {

inline constexpr std::size_t kLine = 64;  ///< size of a cache line in bytes
/// Payloads up to this size in bytes directly follow their header.
inline constexpr std::int64_t kMaxAmongLines = 1 << 10;

/// Counters in shared memory. Fields that the writer changes and fields that the reader changes are
/// on different cache lines.
struct RingCounts {
  alignas(kLine) std::atomic<std::uint64_t> nonce;  ///< written once, by the writer
  /// 1 while the writer waits for free space; otherwise 0.
  std::atomic<std::uint32_t> writer_waits;
  /// The number of bytes that the reader has consumed from the ring of lines.
  alignas(kLine) std::atomic<std::uint64_t> lines_taken;
  /// The number of bytes that the reader has consumed from the ring of payloads.
  std::atomic<std::uint64_t> payloads_taken;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free &&
              std::atomic<std::uint32_t>::is_always_lock_free);

/// The memory of one direction between two processes. Both rings are mapped twice in succession, so
/// that every message is contiguous in virtual memory.
struct RingMemory {
  RingCounts& counts;
  std::byte* lines = nullptr;
  std::byte* payloads = nullptr;
  /// REQUIRES: both sizes are powers of two, and at least 2 · kMaxAmongLines.
  std::size_t line_bytes = 0;
  std::size_t payload_bytes = 0;
};

/// The number of bytes that a message needs in each of the two rings.
struct RingShare {
  std::size_t lines = kLine;  ///< bytes in the ring of lines, including the header
  std::size_t payloads = 0;   ///< bytes in the ring of payloads
  /// If the payload is in the ring of lines: the payload's offset from the start of the message.
  std::size_t payload_at = 0;

  static RingShare of(const Header& header);
};

class RingWriter {
 public:
  /// REQUIRES: the memory outlives the writer.
  explicit RingWriter(const RingMemory& memory);

  /// Reserves space for a message, and returns the address to which its payload has to be written.
  /// Returns null if the ring does not have enough free space, or if the reader's counts are
  /// invalid.
  /// REQUIRES: the payload is not longer than RingMemory::payload_bytes.
  std::byte* reserve(const Header& header);
  /// Publishes the message for which space was reserved last: from now on, the reader can see the
  /// message. REQUIRES: the message's payload is written.
  void publish(const Header& header);
  /// Sets whether the reader has to wake the writer after taking a message.
  void wait_for_room(bool waits) {
    memory_.counts.writer_waits.store(waits ? 1 : 0, std::memory_order_seq_cst);
  }

 private:
  RingMemory memory_;
  std::uint64_t nonce_;
  /// For each ring: the number of bytes written, and the number of bytes that the reader had
  /// consumed when the writer last looked.
  std::uint64_t lines_ = 0, lines_taken_ = 0;
  std::uint64_t payloads_ = 0, payloads_taken_ = 0;
};

class RingReader {
 public:
  /// REQUIRES: the RingWriter was constructed before.
  explicit RingReader(const RingMemory& memory);

  struct Message {
    Header header;
    const std::byte* payload = nullptr;
  };
  [[nodiscard]] bool empty() const;
  /// Returns the next message, which stays valid until release(). Returns nullopt if there is no
  /// message, or if the message is invalid. If the message is invalid, broken() returns true.
  std::optional<Message> front();
  /// Frees the space of the message that front() has returned.
  void release();
  /// Returns true if the writer waits for space. Must be called after release() and a memory fence.
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
