#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "core/lowering/plan.h"
#include "core/network/path.h"
#include "real/emulate/scale.h"
#include "real/emulate/traffic.h"
#include "real/process/timers.h"
#include "real/transport/transport.h"

namespace tutti::real {

/// Delays real messages so that they travel at the speed of the scenario's links. This class wraps
/// a real transport. The interpreter (real/interpreter) uses this class as its transport, and the
/// real transport delivers messages to this class as its receiver.
///
/// Every link belongs to one worker, whose process keeps the link's state. A link serves messages
/// in order of arrival, with cut-through switching (model `fifo` of the simulator,
/// docs/networks.md). A message first passes its sender's links in the sender's process. The
/// message then travels over the real transport. A stamp precedes the message. The stamp contains
/// the times at which the message's head and tail arrive at the receiver's first link. In the
/// receiver's process, the message passes the receiver's links. The interpreter gets the whole
/// message at the later of two times: when its tail would have left the last emulated link, and
/// when the message has actually arrived. A message that reports a free slot (part of the receive
/// buffer of a connection) also has a stamp. Stamps are times of the monotonic clock, since all
/// processes run on one machine.
///
/// Messages from peers are checked against the schedules (Traffic), and their stamps are checked
/// against the clock. No stamp can be earlier than the construction of this network, since a step
/// begins only when all workers are ready. No stamp can be further in the future than the time that
/// the links need for all bytes of two training steps. (Two steps are sufficient, because a rank
/// that begins step n has received messages of step n - 2 from all other ranks.) Stamps outside
/// these bounds are rejected, so that a peer with wrong stamps cannot make this worker wait for an
/// arbitrary time.
class EmulatedNetwork : public Transport, private Receiver {
 public:
  /// `below`: the real transport. REQUIRES: all arguments outlive this object; `below` has no other
  /// receiver.
  EmulatedNetwork(const core::Plan& plan, Transport& below, const TimeScale& scale, Timers& timers);
  ~EmulatedNetwork() override;

  void connect(Receiver& receiver, Devices& devices) override;
  bool send(const Piece& piece, const std::byte* payload, Ticket ticket) override;
  void free_slot(const Channel& channel) override;
  core::Expected<void> poll(Clock::time_point until) override;
  [[nodiscard]] bool flushed() const override { return on_own_links_ == 0 && below_.flushed(); }
  [[nodiscard]] bool is_local(core::Rank rank) const override { return below_.is_local(rank); }
  [[nodiscard]] std::int64_t carried() const override { return below_.carried(); }
  [[nodiscard]] Clock::time_point now() const override { return timers_.now(); }
  [[nodiscard]] Clock::time_point began() const override { return began_.value_or(timers_.now()); }

  /// `messages`: the number of messages that came from other processes. `late`: the number of
  /// messages from other processes that arrived later than the emulated links would have delivered
  /// them. `latest`: the maximum delay of a late message.
  struct LateMessages {
    std::int64_t messages = 0;
    std::int64_t late = 0;
    Clock::duration latest{};
  };
  [[nodiscard]] const LateMessages& late_messages() const { return late_messages_; }

 private:
  struct Message;
  using MessagePointer = std::shared_ptr<Message>;
  /// The stamp that precedes a message to another process.
  struct Stamp {
    std::int64_t began_ns =
        0;  ///< the time at which the first link began to serve the message, in ns
    std::int64_t head_ns = 0;
    std::int64_t tail_ns = 0;
  };

  // --- Receiver: called by the real transport ---
  std::byte* place(const Piece& piece) override;
  void arrived(const Piece& piece) override;
  bool slot_freed(const Channel& channel) override;
  void sent(Ticket ticket) override;

  MessagePointer new_message(const Piece& piece, std::int64_t total);
  MessagePointer begin(const Piece& piece);
  void serve(const MessagePointer& message, std::size_t hop, Clock::time_point head_here);
  void deliver_to_receiver(const MessagePointer& message, Clock::time_point head);
  void pass_below(const MessagePointer& message, const Piece& piece, const std::byte* payload,
                  Ticket ticket);
  void give_back(const MessagePointer& message, Ticket ticket);
  void leave_sender(const MessagePointer& message);
  void arrive(const MessagePointer& message);
  void deliver(const MessagePointer& message);
  std::byte* place_message(const Piece& piece);
  void slot_arrived(const Channel& freed);
  [[nodiscard]] bool may_say(std::int64_t from_ns, std::int64_t to_ns) const;
  void fail(core::Rank peer, const std::string& what);

  const core::Plan& plan_;
  Transport& below_;
  TimeScale scale_;
  Timers& timers_;
  Receiver* receiver_ = nullptr;
  core::PathTable paths_;
  Traffic traffic_;
  Clock::time_point opened_;  ///< the earliest time that a stamp may contain
  Clock::duration
      furthest_;  ///< the maximum difference between a stamp's time and the current time
  /// For each resource, such as a link, the time at which the resource becomes free.
  std::vector<Clock::time_point> free_;
  /// The messages that each channel is sending. When the interpreter sends a piece, the piece
  /// belongs to the last message of its channel.
  std::map<Channel, std::deque<MessagePointer>> sending_;
  /// The state of a connection from another process.
  struct Incoming {
    /// The message that has been received only in part; null if there is none.
    MessagePointer message;
    /// The number of messages in flight, including messages that wait for a link.
    std::int64_t in_flight = 0;
  };
  std::map<Channel, Incoming> receiving_;
  /// For each channel, the number of freed slots that have not been reported to the sender.
  std::map<Channel, std::int64_t> credits_to_report_;
  std::unordered_map<Ticket, std::pair<MessagePointer, Ticket>> below_tickets_;
  Ticket next_ticket_ = 0;
  /// The stamps that are being sent.
  std::unordered_map<Ticket, std::unique_ptr<std::int64_t>> slots_in_flight_;
  /// While a message that reports a freed slot is being received: the message's stamp.
  std::int64_t slot_stamp_ = 0;
  /// While a message is being delivered: the time at which the first link began to serve the
  /// message.
  std::optional<Clock::time_point> began_;
  LateMessages late_messages_;
  /// The number of messages to other processes that have not been passed to the real transport.
  std::int64_t on_own_links_ = 0;
  std::optional<core::Error> failure_;
};

}  // namespace tutti::real
