#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "real/transport/wire.h"

// A ring of messages in memory that one process writes and another reads.
//
//     | header 48 | stamp 8 | payload of up to 8, or | payload, padded to 64 bytes | header …
//
// The stamp is written last and tells the reader that a message is there: what a place in the ring was used for before
// never looks so, as a stamp is the writer's count of bytes plus a random number. So a short message comes in one cache
// line, and the reader needs to look at no other. Neither side trusts what the other wrote: headers are copied before
// they are looked at, and counts and lengths are checked against the ring's size.

namespace tutti::real {

inline constexpr std::size_t kLine = 64;  ///< bytes of a cache line
/// A payload of so many bytes lies in the header's line.
inline constexpr std::int64_t kInLine = static_cast<std::int64_t>(kLine - kHeaderBytes - sizeof(std::uint64_t));

/// Lies in shared memory. What one side writes has cache lines of its own.
struct RingCounts {
  alignas(kLine) std::atomic<std::uint64_t> nonce;  ///< by the writer, once
  std::atomic<std::uint32_t> writer_waits;          ///< for room
  alignas(kLine) std::atomic<std::uint64_t> taken;  ///< bytes, by the reader
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && std::atomic<std::uint32_t>::is_always_lock_free);

/// Bytes that a message takes in the ring.
constexpr std::size_t in_ring(std::int64_t payload) {
  if (payload <= kInLine) return kLine;
  return kLine + (static_cast<std::size_t>(payload) + kLine - 1) / kLine * kLine;
}

class RingWriter {
 public:
  /// `data`: `bytes` bytes, mapped twice. REQUIRES: both outlive the writer.
  RingWriter(RingCounts& counts, std::byte* data, std::size_t bytes);

  /// Room for a message with so long a payload: where its payload goes; null if there is none at present, or the counts
  /// make no sense.
  std::byte* reserve(std::int64_t payload);
  /// Shows the reader the message that was reserved last. REQUIRES: its payload is there.
  void publish(const HeaderBytes& header, std::int64_t payload);
  /// The reader is to tell when it has taken something, or need not any more.
  void wait_for_room(bool waits) { counts_.writer_waits.store(waits ? 1 : 0, std::memory_order_seq_cst); }

 private:
  RingCounts& counts_;
  std::byte* data_;
  std::size_t bytes_;
  std::uint64_t nonce_;
  std::uint64_t written_ = 0;
  std::uint64_t taken_ = 0;  ///< as last seen
};

class RingReader {
 public:
  /// REQUIRES: the writer has been made.
  RingReader(RingCounts& counts, std::byte* data, std::size_t bytes)
      : counts_(counts), data_(data), bytes_(bytes), nonce_(counts.nonce.load(std::memory_order_acquire)) {}

  struct Message {
    Header header;
    const std::byte* payload = nullptr;
  };
  [[nodiscard]] bool empty() const;
  /// The next message, which stays until it is released. Nothing if there is none, or what is there is none: see broken().
  std::optional<Message> front();
  /// Gives its room back. True if the writer waits for that.
  bool release(std::int64_t payload);
  [[nodiscard]] bool broken() const { return broken_; }

 private:
  RingCounts& counts_;
  std::byte* data_;
  std::size_t bytes_;
  std::uint64_t nonce_;
  std::uint64_t taken_ = 0;
  bool broken_ = false;
};

}  // namespace tutti::real
