#pragma once

// A resource, such as a link, has three kinds of users: messages on chains of hops, messages on
// trees (multicasts and in-switch reductions), and NCCL collectives of predicted duration, which
// occupy the link for some time (Occupation). If the path of a message is a single section
// (sections.h) and the message carries no causal chain, all its times are computed when it is sent,
// and only its arrival is an event. All other messages have a record of 80 bytes, which is reused
// after the last delivery. Messages on trees also have times for each hop.
//
// PathTable (core/network/path.h) finds paths, sections.cpp moves messages through sections,
// fair_share.cpp computes fair rates, and link_loads.cpp stores the loads of links over time.

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

/// The receiver of a message: a connection of an instance of a collective. The network only passes
/// this value on.
struct Address {
  std::uint32_t instance = 0;
  std::uint32_t connection = 0;
};

/// Simulates messages in flight, with cut-through switching.
///
/// The head of a message reaches a hop when it has left the previous hop and that hop's latency has
/// passed. At the hop, the head waits until the resource has served all earlier messages. The tail
/// leaves a hop when the hop has transmitted all bytes, but never before the tail has arrived.
///
///     head_i = max(head_{i-1} + latency_{i-1}, free_i)
///              (if staged: tail_{i-1} in place of head_{i-1})
///     tail_i = max(head_i + bytes / rate_i, tail_{i-1} + latency_{i-1}), and free_i = tail_i.
///
/// A hop is staged if a message enters it only after all of its bytes have arrived. Buffers between
/// hops are unlimited. Without competing traffic, the time of a message is the sum of all latencies
/// plus its bytes divided by the lowest rate. Hops that form a section (sections.h) are handled by
/// one event.
///
/// The threads of a host (core/cluster/host_transport.h) are also a hop. If a host has several
/// threads, a message spends more time in this hop than the time for which it occupies the hop,
/// because other threads can serve other messages. A link after such a hop is occupied only for the
/// time that it needs to transmit the bytes, even if the bytes arrive more slowly.
///
/// With the model `fair`, a segment of a path in which no hop is staged is one flow over all links
/// of the segment. The flow has its max-min fair rate from the time at which the message is sent.
/// If a host processes bytes as they arrive, its threads are a link that flows share. If a host
/// processes only whole messages, its threads serve the messages in order of arrival. The overhead
/// per message is served in this order, too. A message arrives when its last byte has left the
/// sender and the latency of the path has passed.
class Network {
 public:
  /// If `keep_causal_chains` is true, each message carries the causal chain of its sender. When the
  /// message arrives, its times are added to the chain. `health` contains the links whose bandwidth
  /// changes. REQUIRES: `health` is empty if the model is ideal.
  Network(const core::Cluster& cluster, core::NetworkModel model, LinkRange binned_links,
          bool keep_causal_chains, LinkHealth health = {});

  [[nodiscard]] core::PathTable& paths() { return paths_; }
  [[nodiscard]] bool keeps_causal_chains() const { return keep_causal_chains_; }
  /// Returns the current loads of the links.
  const LinkLoads& loads() {
    sections_.flush_loads(loads_);
    return loads_;
  }

  /// From now on, reports to `ties` each resource that a message requests (sim/folding/ties.h).
  /// Needed only for the models fifo and ideal, because the order of requests does not affect fair
  /// sharing.
  void watch(Ties& ties) { ties_ = &ties; }

  /// Adds the loads that were recorded since the totals were `before`, multiplied by `times`.
  void carry_again(const LinkLoads::Totals& before, std::int64_t times);

  /// Visits the time until which each resource is busy. If flows share links, or if a change of
  /// bandwidth is pending, calls unfit(), so that nothing is skipped.
  void visit_state(StateVisitor& visitor);
  /// Visits a message in flight. Calls unfit() if the message's path is not a chain of hops.
  /// REQUIRES: causal chains are kept.
  void visit_message(std::uint32_t id, StateVisitor& visitor);

  /// Announces that messages will use a path. The simulation is faster if all paths are announced
  /// and expect_no_other() is called before the first message is sent.
  void expect(std::int32_t path) { sections_.expect(paths_.path(path)); }
  void expect_no_other() { sections_.expect_no_other(); }

  /// Sends `bytes` along `path` at `now`. Returns the time at which the sender's buffer becomes
  /// free. If this time depends on other traffic (model `fair`), returns kNever, and an event of
  /// kind kSent occurs when the buffer becomes free. Adds events of kind kHop and kDeliver, or one
  /// event of kind kArrive, with the order key `order`. `causal_chain` is the sender's causal
  /// chain; null if causal chains are not kept.
  core::Time send(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order,
                  std::vector<Address> receivers, const CausalChain* causal_chain,
                  EventQueue& events);
  /// Does the same as the function above for a message with one receiver, without allocating
  /// memory.
  core::Time send(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order,
                  Address receiver, const CausalChain* causal_chain, EventQueue& events);

  /// The occupation of a link for some time by something other than a message, such as an NCCL
  /// collective.
  using Occupation = core::LinkUse;
  /// Announces an occupation. Must be called before the first message is sent.
  void expect(const Occupation& occupation);
  /// Returns true if flows share links (model `fair`). With this model, the end of an occupation is
  /// an event of kind kReleased.
  [[nodiscard]] bool shares() const { return fair_ != nullptr; }
  /// Occupies the link as soon as all earlier users have left it. Returns the time at which the
  /// occupation ends; kNever if the link is down and stays down. REQUIRES: !shares().
  core::Time occupy(const Occupation& occupation, core::Time now);
  /// Does the same as the function above, for the model `fair`. Adds an event of kind kReleased
  /// with the address `receiver` for the end of the occupation. When this event is handled, the
  /// carried bytes must be recorded with carry(). REQUIRES: shares(); the occupation has a link and
  /// a duration.
  void occupy(const Occupation& occupation, core::Time now, std::uint64_t order, Address receiver,
              EventQueue& events);
  void carry(const Occupation& occupation, core::Time start, core::Time end);

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
  /// Handles kSent: a message has left its sender's buffer. Returns its data.
  [[nodiscard]] Departure departed(const Event& event) const;

  struct Arrival {
    Address address;
    core::Time began_moving;  ///< time at which the first byte left the sender
    /// The sender's causal chain, extended by the times of the message; null if causal chains are
    /// not kept.
    const CausalChain* causal_chain = nullptr;
  };
  /// Handles kDeliver and kReleased. Returns the data of the message that has arrived, or of the
  /// occupation that has ended. Arrival::causal_chain is valid until the next message is sent or
  /// delivered.
  Arrival deliver(const Event& event);

 private:
  struct Message {
    std::int32_t path = 0;
    std::int32_t branches = -1;  ///< index into branches_ if the path is not a chain; otherwise -1
    core::Bytes bytes;
    std::uint64_t order = 0;
    core::Time sent;
    core::Time began_moving;
    /// For a path that is a chain of hops: the time at which the message's last byte reaches the
    /// next section.
    core::Time tail;
    Address receiver;  ///< address of the receiver, if there is only one
    core::Time queued_time;
    core::Time stretch_began;     ///< model `fair`: start of the current segment
    std::int32_t queued_at = -1;  ///< the link with the longest wait; -1: none
    std::uint16_t undelivered = 1;
    std::uint8_t segment = 0;  ///< model `fair`: index of the current segment
    /// True if this record belongs to an occupation of a link and not to a message. An occupation
    /// ends with an event of kind kReleased.
    bool is_occupation = false;
  };
  static_assert(sizeof(Message) == 80);  // with a CausalChain: three cache lines
  /// The state of a message on a path that is not a chain of hops, indexed by hop.
  struct Branches {
    std::vector<core::Time> tails;       ///< for each hop, the time at which the tail reaches it,
                                         ///< as far as known
    std::vector<std::uint16_t> missing;  ///< for each hop, the number of previous hops from which
                                         ///< the head has not arrived
    std::vector<Address> receivers;
  };

  std::uint32_t new_message();
  core::Time send_one(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order,
                      Address receiver, bool is_occupation, const CausalChain* causal_chain,
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
  std::vector<CausalChain> causal_chains_;  ///< one entry per message; empty unless causal chains
                                            ///< are kept
  /// A copy of the causal chain of the last delivered message. Used if the message has further
  /// receivers, which need the unchanged original.
  CausalChain delivered_;
  std::vector<std::uint32_t> free_messages_;
  std::vector<Branches> branches_;
  std::vector<std::int32_t> free_branches_;
};

}  // namespace tutti::sim
