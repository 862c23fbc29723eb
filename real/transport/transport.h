#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "core/base/error.h"
#include "core/schedule/step.h"

namespace tutti::real {

/// Identifies one collective of a run, the same on every process.
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

/// A part of a message: `length` of its `total` bytes, from `offset` on. A message without bytes is
/// one empty piece.
struct Piece {
  Channel channel;
  std::int64_t total = 0;
  std::int64_t offset = 0;
  std::int64_t length = 0;
  /// The index of the sender's step, modulo kMessageNumbers: rises from message to message of a
  /// channel, so that replayed messages are detected.
  std::uint32_t message = 0;
  static constexpr std::uint32_t kMessageNumbers = 1u << 24;
};

class Devices;

/// Identifies a send; passed to Receiver::sent() when the sender may reuse its memory.
using Ticket = std::uint64_t;

/// The receiver of messages, as the transport calls it.
class Receiver {
 public:
  virtual ~Receiver() = default;
  /// Returns the memory into which the transport shall write the bytes of `piece`, which have
  /// arrived or are about to. Null if the schedule does not send this piece: the peer then violates
  /// the protocol.
  virtual std::byte* place(const Piece& piece) = 0;
  /// The bytes have been written. Follows each place() that did not return null, before the next.
  virtual void arrived(const Piece& piece) = 0;
  /// Replaces place() and arrived(): all bytes of `piece` are at `bytes`, until this returns.
  /// Returns false if place() would return null.
  virtual bool take(const Piece& piece, const std::byte* bytes);
  /// The receiver of `channel` has freed one slot. Returns false if none was in use: the peer then
  /// violates the protocol.
  virtual bool slot_freed(const Channel& channel) = 0;
  /// The payload of `ticket` has left the sender's memory.
  virtual void sent(Ticket ticket) = 0;
  /// True if the collective is open here, so that its messages may come.
  [[nodiscard]] virtual bool is_open(CollectiveTag) const { return true; }
  /// True if the collective has yet to be opened here. Messages of a peer that is ahead then stay
  /// in the transport until it is, together with all that this peer sends after them, which belong
  /// to the same or later collectives. So a peer gets ahead by no more than the transport can
  /// buffer.
  [[nodiscard]] virtual bool comes_early(CollectiveTag) const { return false; }
};

/// Moves pieces between ranks. The pieces of a message and the messages of a channel arrive
/// completely and in order; different channels may overtake each other. Calls the receiver from
/// inside poll() only.
class Transport {
 public:
  using Clock = std::chrono::steady_clock;

  virtual ~Transport() = default;
  /// Sets the receiver of messages, and the devices that copy messages between ranks of this
  /// process.
  /// REQUIRES: called first; both outlive the transport.
  virtual void connect(Receiver& receiver, Devices& devices) = 0;
  /// Returns true if the payload has left the sender's memory already; sent() is not called then.
  /// REQUIRES: otherwise `payload` stays as it is until Receiver::sent(ticket).
  virtual bool send(const Piece& piece, const std::byte* payload, Ticket ticket) = 0;
  /// Returns memory to which the sender may write the payload of `piece` directly, which saves a
  /// copy; publish() then sends it. Null if there is no such memory, or none at present: call
  /// send() then.
  virtual std::byte* reserve(const Piece&) { return nullptr; }
  /// REQUIRES: the last call was reserve() of the same piece, and returned memory.
  virtual void publish(const Piece&) {}
  /// Tells the sender of `channel` that a message was taken out.
  virtual void free_slot(const Channel& channel) = 0;
  /// Moves what can be moved now and calls the receivers. If there was nothing, waits for something
  /// until `until`, but not longer than some 10 ms.
  /// ERRORS: a peer is gone, or does not keep to the protocol.
  virtual core::Expected<void> poll(Clock::time_point until) = 0;
  /// True if all messages have left this process.
  [[nodiscard]] virtual bool flushed() const = 0;
  /// Returns the number of bytes that connections to other processes have carried so far, in both
  /// directions. It also grows while a long piece is on its way over a slow link.
  [[nodiscard]] virtual std::int64_t carried() const { return 0; }
  /// True if the rank is in this process: its messages do not leave the memory of the process and
  /// its devices.
  [[nodiscard]] virtual bool is_local(core::Rank rank) const = 0;
  /// The best size of pieces in bytes: large enough that headers cost nothing, small enough that a
  /// received piece is still in the cache when it is reduced, and that the next rank begins early.
  /// At most kMaxPieceBytes (wire.h); a multiple of every element's size.
  [[nodiscard]] virtual std::int64_t piece_bytes() const { return 128 << 10; }
  /// Returns the time of the event that the receiver is being called for; outside of poll(), now.
  [[nodiscard]] virtual Clock::time_point now() const { return Clock::now(); }
  /// Returns when the message whose first piece is being delivered began to move; now() if that is
  /// unknown.
  [[nodiscard]] virtual Clock::time_point began() const { return now(); }
};

}  // namespace tutti::real
