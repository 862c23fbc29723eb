#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/base/error.h"
#include "core/schedule/step.h"

namespace tutti::real {

/// Identifies one collective of a run. The tag is the same in every process.
struct CollectiveTag {
  std::uint32_t step = 0;  ///< the training step
  std::uint32_t pack = 0;
  auto operator<=>(const CollectiveTag&) const = default;
};

/// A connection of a collective: an ordered pair of lanes.
struct Channel {
  CollectiveTag collective;
  core::Rank from = 0;
  core::Lane from_lane = 0;
  core::Rank to = 0;
  core::Lane to_lane = 0;
  auto operator<=>(const Channel&) const = default;
};

/// A part of a message: `length` of the message's `total` bytes, beginning at `offset`. A message
/// without bytes consists of one empty piece.
struct Piece {
  Channel channel;
  std::int64_t total = 0;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  /// The index of the sender's schedule step, modulo kMessageNumbers. The number increases with
  /// every message of a channel, so the receiver can detect a message that is sent twice.
  std::uint32_t message = 0;
  static constexpr std::uint32_t kMessageNumbers = 1u << 24;
};

class Devices;

/// Identifies a send. The transport passes the ticket to Receiver::sent() when the sender may reuse
/// the payload's memory.
using Ticket = std::uint64_t;

/// Interface through which the transport delivers messages.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// Returns the memory into which the transport writes the bytes of `piece`, which have arrived or
  /// are arriving. Returns null if the schedule does not send this piece, in which case the peer
  /// violates the protocol.
  virtual std::byte* place(const Piece& piece) = 0;
  /// Called when the bytes of the piece have been written to the memory that place() returned.
  /// There is one call of arrived() after each call of place() that did not return null, before the
  /// next call of place().
  virtual void arrived(const Piece& piece) = 0;
  /// Receives all bytes of `piece`, which are at `bytes` until this function returns. Called
  /// instead of place() and arrived(). Returns false if place() would return null.
  virtual bool take(const Piece& piece, const std::byte* bytes);
  /// Called when the receiver of `channel` has freed one slot, that is, has space for one more
  /// message. Returns false if no slot was in use, in which case the peer violates the protocol.
  virtual bool slot_freed(const Channel& channel) = 0;
  /// Called when the payload with this ticket has been sent, so that its memory may be reused.
  virtual void sent(Ticket ticket) = 0;
  /// Returns true if the collective is open in this process, so that messages for it are valid.
  [[nodiscard]] virtual bool is_open(CollectiveTag) const { return true; }
  /// Returns true if the collective has not been opened yet, but will be opened in this process.
  /// Messages from a peer that is ahead stay in the transport until their collective is open. All
  /// later messages of that peer also wait. A peer can therefore be ahead of this process only by
  /// as much data as the transport can buffer.
  [[nodiscard]] virtual bool is_expected_early(CollectiveTag) const { return false; }
};

/// Interface that moves pieces between ranks. The transport delivers all pieces of a message, and
/// all messages of a channel, in order. Messages of different channels may overtake each other. The
/// receiver is called only from inside poll().
class Transport {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Transport() = default;
  /// Sets the receiver of messages, and the devices that copy messages between ranks of this
  /// process. To be called first. REQUIRES: both outlive the transport.
  virtual void connect(Receiver& receiver, Devices& devices) = 0;
  /// Sends a piece. Returns true if the payload's memory may be reused immediately;
  /// Receiver::sent() is then not called.
  /// REQUIRES: if send() returns false, `payload` does not change until Receiver::sent() is called
  /// with `ticket`.
  virtual bool send(const Piece& piece, const std::byte* payload, Ticket ticket) = 0;
  /// Returns memory into which the sender may write the payload of a piece directly, which saves a
  /// copy; publish() then sends the piece. Returns null if the transport has no such memory, or if
  /// none is free; the caller then has to use send().
  virtual std::byte* reserve(const Piece&) { return nullptr; }
  /// Sends the piece whose payload was written to the memory from reserve(). REQUIRES: the previous
  /// call was reserve() of the same piece, and did not return null.
  virtual void publish(const Piece&) {}
  /// Notifies the sender of `channel` that a slot is free again.
  virtual void free_slot(const Channel& channel) = 0;
  /// Moves all data that can be moved without waiting, and calls the receiver. If no data can be
  /// moved, waits for data until `until`, but at most for about 10 ms. ERRORS: a peer is gone, or
  /// violates the protocol.
  virtual core::Expected<void> poll(Clock::time_point until) = 0;
  /// Returns true if all messages have left this process.
  [[nodiscard]] virtual bool flushed() const = 0;
  /// Returns the number of bytes that connections to other processes have carried, in both
  /// directions. The number also grows while a long piece is being transferred over a slow link.
  [[nodiscard]] virtual std::int64_t carried() const { return 0; }
  /// Returns true if the rank is in this process. Messages to a rank in this process do not leave
  /// the memory of the process and its devices.
  [[nodiscard]] virtual bool is_local(core::Rank rank) const = 0;
  /// Returns the preferred size of pieces in bytes. Pieces of this size are large enough that the
  /// cost of headers is negligible. Pieces of this size are small enough to be in the cache when
  /// they are reduced, and to let the next rank begin early. The size is at most kMaxPieceBytes
  /// (wire.h), and a multiple of every element size.
  [[nodiscard]] virtual std::int64_t piece_bytes() const { return 128 << 10; }
  /// Returns the current time. While poll() calls a function of the receiver to report an event,
  /// returns the time of this event instead.
  [[nodiscard]] virtual Clock::time_point now() const { return Clock::now(); }
  /// While a message is being delivered, returns the time at which the message began to move; now()
  /// if this time is unknown.
  [[nodiscard]] virtual Clock::time_point began() const { return now(); }
};

}  // namespace tutti::real
