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

/// Carries real messages at the speed of the scenario's links. A wrapper: to the interpreter it is
/// the transport, to the transport below it is the receiver.
///
/// Every link belongs to one worker, whose process keeps its state: it serves one message after the
/// other, cut through (the simulator's `fifo`, docs/networks.md). A message first passes its
/// sender's links in the sender's process. Then it travels for real, behind a stamp that says when
/// its head and its tail arrive at the receiver's first link. There it passes the receiver's links,
/// and is delivered to the interpreter as a whole when its tail would have left the last link, or
/// when it has really arrived, if that is later. Messages that free a slot have a stamp too. Stamps
/// are points of the monotonic clock, since all processes share a machine.
///
/// Messages from peers are checked against the schedules (Traffic), and their stamps against the
/// clock. No stamp can lie before the construction of this network, since a step begins only when
/// all workers are ready. Nor can it lie further ahead than the links need for all bytes of two
/// steps, since a rank that begins a step has received from all other ranks in the step before the
/// last. Other stamps are rejected, because they would only make workers wait.
class EmulatedNetwork : public Transport, private Receiver {
 public:
  /// REQUIRES: all outlive the network; `below` has no other receiver.
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

  /// The number of messages from other processes, and how many of them really arrived later than
  /// their links would have allowed.
  struct Punctuality {
    std::int64_t messages = 0;
    std::int64_t late = 0;
    Clock::duration latest{};
  };
  [[nodiscard]] const Punctuality& punctuality() const { return punctuality_; }

 private:
  struct Message;
  using MessagePointer = std::shared_ptr<Message>;
  /// The header of a message that goes to another process.
  struct Stamp {
    std::int64_t began_ns = 0;  ///< when the first link began to serve it, in ns
    std::int64_t head_ns = 0;
    std::int64_t tail_ns = 0;
  };

  // The Receiver that the transport below sees.
  std::byte* place(const Piece& piece) override;
  void arrived(const Piece& piece) override;
  bool slot_freed(const Channel& channel) override;
  void sent(Ticket ticket) override;

  MessagePointer new_message(const Piece& piece, std::int64_t total);
  MessagePointer begin(const Piece& piece);
  void serve(const MessagePointer& message, std::size_t hop, Clock::time_point head_here);
  void hand_over(const MessagePointer& message, Clock::time_point head);
  void pass_below(const MessagePointer& message, const Piece& piece, const std::byte* payload,
                  Ticket ticket);
  void give_back(const MessagePointer& message, Ticket ticket);
  void let_go(const MessagePointer& message);
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
  core::PathBook paths_;
  Traffic traffic_;
  Clock::time_point opened_;             ///< lower bound of the times in stamps
  Clock::duration furthest_;             ///< upper bound of how far a stamp's time is ahead of now
  std::vector<Clock::time_point> free_;  ///< by resource: when it has served its earlier messages
  /// By channel: messages being sent; pieces are added to the last one.
  std::map<Channel, std::deque<MessagePointer>> sending_;
  /// The state of a connection from another process.
  struct Incoming {
    MessagePointer message;  ///< the message that is not yet completely received
    /// Number of messages in flight, including those that wait for their links.
    std::int64_t under_way = 0;
  };
  std::map<Channel, Incoming> receiving_;
  /// By channel: slots that are freed but not yet reported.
  std::map<Channel, std::int64_t> slots_coming_;
  std::unordered_map<Ticket, std::pair<MessagePointer, Ticket>> below_tickets_;
  Ticket next_ticket_ = 0;
  std::unordered_map<Ticket, std::unique_ptr<std::int64_t>>
      slots_in_flight_;                     ///< stamps that are being sent
  std::int64_t slot_stamp_ = 0;             ///< stamp of the slot message that is being received
  std::optional<Clock::time_point> began_;  ///< begin of the message that is being delivered
  Punctuality punctuality_;
  /// Number of messages to other processes that are not yet handed over.
  std::int64_t on_own_links_ = 0;
  std::optional<core::Error> failure_;
};

}  // namespace tutti::real
