#pragma once

// Resources have three kinds of users: messages on chains of hops, messages on trees (multicasts,
// reductions in switches), and holds, by which NCCL collectives with predicted times occupy links.
// A message that passes a single section and carries no causal chain needs no record: its whole
// passage is computed when it is sent, and only its arrival is an event. All other messages have a
// record of 80 bytes, which is reused after the last delivery. Messages on trees also have a time
// for each hop.
//
// Paths are found by PathTable (core/network/path.h), passages through sections are computed in
// sections.cpp and fair rates in fair_share.cpp, and loads over time are kept in link_loads.cpp.

#include <cstdint>
#include <memory>
#include <vector>

#include "core/network/link_use.h"
#include "core/network/path.h"
#include "sim/device/server.h"
#include "sim/engine/causal_chain.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/state_visitor.h"
#include "sim/folding/ties.h"
#include "sim/network/fair_links.h"
#include "sim/network/link_health.h"
#include "sim/network/link_loads.h"
#include "sim/network/sections.h"

namespace tutti::sim {

/// The receiver of a message: a connection of an instance of a collective. The network does not
/// interpret this value.
struct Address {
  std::uint32_t instance = 0;
  std::uint32_t connection = 0;
};

/// The messages in flight, with cut-through switching.
///
/// The head of a message reaches a hop when it has left the previous hop and that hop's latency has
/// passed. There it waits until the resource has served all earlier messages. The tail leaves a hop
/// when the hop has transmitted all bytes, but never before the tail has arrived:
///     head_i = max(head_{i-1} + latency_{i-1}, free_i)
///              (if staged: tail_{i-1} in place of head_{i-1})
///     tail_i = max(head_i + bytes / rate_i, tail_{i-1} + latency_{i-1}), and free_i = tail_i
/// Buffers between hops are unlimited. Without competing traffic, a message takes the sum of all
/// latencies plus its bytes divided by the lowest rate. Hops that form a section (sections.h) are
/// handled in one event.
///
/// The threads of a host (core/cluster/host_transport.h) are also a hop. If a host has several
/// threads, a message takes longer to pass the hop than the time for which it occupies the hop. A
/// link behind such a hop is occupied only for the time that it needs to transmit the bytes, even
/// if the bytes arrive more slowly.
///
/// With the model `fair`, a segment without staging is one flow over all its links. The flow has
/// its max-min fair rate from the time at which the message is sent. If a host processes bytes as
/// they arrive, its threads are a link that flows share. The overhead per message, and threads that
/// process only whole messages, are served in order of arrival. A message arrives one latency after
/// its last byte has left the sender.
class Network {
 public:
  /// If `keep_causal_chains` is true, messages carry their senders' causal chains, and add their
  /// own times to the chains on arrival. `health`: the links whose bandwidth changes. REQUIRES:
  /// `health` is empty if the model is ideal.
  Network(const core::Cluster& cluster, core::NetworkModel model, LinkRange binned_links,
          bool keep_causal_chains, LinkHealth health = {});

  [[nodiscard]] core::PathTable& paths() { return paths_; }
  [[nodiscard]] bool keeps_causal_chains() const { return keep_causal_chains_; }
  /// Returns the current loads of the links.
  const LinkLoads& loads() {
    sections_.settle(loads_);
    return loads_;
  }

  /// Starts to report requests to `ties`. Only the models fifo and ideal need this call, because
  /// the order of requests does not affect fair sharing.
  void watch(Ties& ties) { ties_ = &ties; }

  /// Adds the loads that were recorded since `before` was taken, multiplied by `times`.
  void carry_again(const LinkLoads::Totals& before, std::int64_t times);

  /// Visits the time until which each resource is busy. Calls unfit() if flows share links, or if a
  /// change of bandwidth is pending.
  void visit_state(StateVisitor& visitor);
  /// Visits a message in flight. Calls unfit() if the message's path is not a chain of hops.
  /// REQUIRES: causal chains are kept.
  void visit_message(std::uint32_t id, StateVisitor& visitor);

  /// Announces that messages will use a path. Simulation is faster if all paths are announced
  /// before the first message is sent, followed by a call of expect_no_other().
  void expect(std::int32_t path) { sections_.expect(paths_.path(path)); }
  void expect_no_other() { sections_.expect_no_other(); }

  /// Sends `bytes` along `path` at `now`. Returns the time at which the sender's buffer becomes
  /// free. If this time depends on other traffic (model `fair`), returns kNever; an event of kind
  /// kSent then reports the time. Adds events of kind kHop and kDeliver, or one event of kind
  /// kArrive; all of them have the key `order`. `causal_chain`: the sender's causal chain; null if
  /// causal chains are not kept.
  core::Time send(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order,
                  std::vector<Address> receivers, const CausalChain* causal_chain,
                  EventQueue& events);
  /// Does the same as the function above, for one receiver and without allocating memory.
  core::Time send(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order,
                  Address receiver, const CausalChain* causal_chain, EventQueue& events);

  /// The occupation of a resource by something other than a message.
  using Hold = core::LinkUse;
  /// Announces a hold. Must be called before the first message is sent.
  void expect(const Hold& hold);
  /// Returns true if flows share links (model `fair`). With this model, an event of kind kReleased
  /// reports the end of a hold.
  [[nodiscard]] bool shares() const { return fair_ != nullptr; }
  /// Occupies the resource as soon as all earlier users have left it. Returns the time at which the
  /// hold ends; kNever if the link is down and stays down. REQUIRES: !shares().
  core::Time hold(const Hold& hold, core::Time now);
  /// Does the same as the function above, for the model `fair`. Adds an event of kind kReleased
  /// with the address `holder` for the end of the hold. The handler of this event records the
  /// carried bytes with carry(). REQUIRES: shares(); the hold has a link and a duration.
  void hold(const Hold& hold, core::Time now, std::uint64_t order, Address holder,
            EventQueue& events);
  void carry(const Hold& hold, core::Time start, core::Time end);

  /// Handles kHop.
  void reach(const Event& event, EventQueue& events);
  /// Handles kShare.
  void share(const Event& event, EventQueue& events);

  /// Adds events of kind kChange for the changes of links' bandwidths. Must be called once, before
  /// the first message is sent.
  void schedule_changes(EventQueue& events);
  /// Handles kChange.
  void change(const Event& event, EventQueue& events);

  struct Departure {
    Address address;
    std::int32_t path = 0;
    core::Bytes bytes;
    core::Time sent;
    core::LinkId bottleneck = -1;  ///< the link that limited the message's rate
  };
  /// Handles kSent. Returns the message that has left its sender.
  [[nodiscard]] Departure departed(const Event& event) const;

  struct Arrival {
    Address address;
    core::Time began_moving;  ///< time at which the first byte left the sender
    /// The sender's causal chain, extended by the times of the message; null if causal chains are
    /// not kept.
    const CausalChain* causal_chain = nullptr;
  };
  /// Handles kDeliver and kReleased. Returns the message that has arrived. Arrival::causal_chain is
  /// valid until the next message is sent or delivered.
  Arrival deliver(const Event& event);

 private:
  struct Message {
    std::int32_t path = 0;
    std::int32_t branches = -1;  ///< index into branches_ if the path is not a chain; otherwise -1
    core::Bytes bytes;
    std::uint64_t order = 0;
    core::Time sent;
    core::Time began_moving;
    /// For a path that is a chain of hops: the time at which the last byte reaches the next
    /// section.
    core::Time tail;
    Address receiver;  ///< the address of a message with one receiver
    core::Time queued_time;
    core::Time stretch_began;     ///< model `fair`: start of the current segment
    std::int32_t queued_at = -1;  ///< the link with the longest wait; -1: none
    std::uint16_t undelivered = 1;
    std::uint8_t segment = 0;  ///< model `fair`: index of the current segment
    /// True if this object is a hold of a link, and not a message. A hold ends with an event of
    /// kind kReleased.
    bool hold = false;
  };
  static_assert(sizeof(Message) == 80);  // with a CausalChain: three cache lines
  /// The state of a message on a path that is not a chain of hops, indexed by hop.
  struct Branches {
    std::vector<core::Time> tails;       ///< by hop: time at which the tail reaches the hop, as far
                                         ///< as known
    std::vector<std::uint16_t> missing;  ///< by hop: number of message heads that have not arrived
                                         ///< yet
    std::vector<Address> receivers;
  };

  std::uint32_t new_message();
  core::Time send_one(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order,
                      Address receiver, bool hold, const CausalChain* causal_chain,
                      EventQueue& events);
  core::Time start(std::uint32_t id, core::Time now, const CausalChain* causal_chain,
                   EventQueue& events);
  core::Time pass(std::uint32_t id, std::uint32_t place, core::Time now, EventQueue& events);
  core::Time serve(std::uint32_t id, std::uint16_t hop, core::Time now, EventQueue& events);
  [[nodiscard]] core::Time tail_of(const Message& message, const core::PathHop& hop,
                                   core::Time head);
  void schedule_change(std::uint32_t which, std::size_t phase, EventQueue& events);
  void load_silent_links(const Message& message, core::Time now);
  core::Time be_served(std::uint32_t id, const FairLinks::Way& way, core::Time now,
                       EventQueue& events);
  core::Time begin_stretch(std::uint32_t id, core::Time now, EventQueue& events);
  void end_stretch(std::uint32_t id, core::LinkId bottleneck, core::Time now, EventQueue& events);
  [[nodiscard]] Address address_of(const Message& message, std::uint32_t receiver) const {
    return message.branches < 0 ? message.receiver
                                : branches_[message.branches].receivers[receiver];
  }

  core::PathTable paths_;
  std::vector<Server> resources_;
  Ties* ties_ = nullptr;
  LinkHealth health_;
  Sections sections_;                ///< models `fifo` and `ideal`
  std::size_t pending_changes_ = 0;  ///< number of pending events of kind kChange
  std::unique_ptr<FairLinks> fair_;  ///< only for the model `fair`
  LinkLoads loads_;
  bool keep_causal_chains_;
  std::vector<Message> messages_;
  std::vector<CausalChain> causal_chains_;  ///< by message; only if causal chains are kept
  /// A copy of the causal chain of the last delivery, made if further receivers of the message are
  /// pending.
  CausalChain delivered_;
  std::vector<std::uint32_t> free_messages_;
  std::vector<Branches> branches_;
  std::vector<std::int32_t> free_branches_;
};

}  // namespace tutti::sim
