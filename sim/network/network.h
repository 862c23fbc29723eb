#pragma once

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

/// The receiver of a message: a connection of an instance of a collective. Opaque to the network.
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
/// Buffers between hops are unlimited. A message without competing traffic takes the sum of
/// latencies plus its bytes divided by the lowest rate. Hops that form a section (sections.h) are
/// handled in one event.
///
/// The threads of a host (core/cluster/host_transport.h) are a hop, too. If there are several
/// threads, a message takes longer than it occupies the hop. A link behind such a hop is occupied
/// only for as long as it needs to transmit the bytes, even if the bytes arrive more slowly.
///
/// With the model `fair`, a stretch without staging is one flow over all its links, which moves at
/// its max-min fair rate from the time when the message is sent. The threads of a host that streams
/// are links that flows share. The threads' overhead per message, and threads that handle only
/// whole messages, are served in order of arrival. A message arrives one latency after its last
/// byte has left the sender.
class Network {
 public:
  /// `keep_causal_chains`: messages carry their senders' causal chains, and add their own times to
  /// the chains on arrival. `health`: the links whose bandwidth changes. REQUIRES: `health` is
  /// empty if the model is ideal.
  Network(const core::Cluster& cluster, core::NetworkModel model, LinkRange binned_links,
          bool keep_causal_chains, LinkHealth health = {});

  [[nodiscard]] core::PathBook& paths() { return paths_; }
  [[nodiscard]] bool keeps_causal_chains() const { return keep_causal_chains_; }
  /// Returns the loads of the links so far.
  const LinkLoads& loads() {
    sections_.settle(loads_);
    return loads_;
  }

  /// Starts to report to `ties`. Only needed with the models fifo and ideal, since the order of
  /// requests does not matter with fair sharing.
  void watch(Ties& ties) { ties_ = &ties; }

  /// Adds the loads since the totals were `before` another `times` times.
  void carry_again(const LinkLoads::Totals& before, std::int64_t times);

  /// Visits the time until which each resource is busy. Calls unfit() if links are shared or if a
  /// change of bandwidth is pending.
  void visit_state(StateVisitor& visitor);
  /// Visits a message in flight. Calls unfit() if its path is not a chain of hops. REQUIRES: causal
  /// chains are kept.
  void visit_message(std::uint32_t id, StateVisitor& visitor);

  /// Announces that messages will use a path. Simulation is faster if all paths are announced
  /// before the first message is sent, followed by a call of expect_no_other().
  void expect(std::int32_t path) { sections_.expect(paths_.path(path)); }
  void expect_no_other() { sections_.expect_no_other(); }

  /// Sends `bytes` along `path` at `now`. Returns when the sender's buffer is free again, or kNever
  /// if that depends on other traffic (fair); an event of kind kSent then reports it. Events of
  /// kind kHop and kDeliver follow, or one event of kind kArrive; all carry `order`.
  /// `causal_chain`: the sender's, only if causal chains are kept.
  core::Time send(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order,
                  std::vector<Address> receivers, const CausalChain* causal_chain,
                  EventQueue& events);
  /// Like the function above, for one receiver and without an allocation.
  core::Time send(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order,
                  Address receiver, const CausalChain* causal_chain, EventQueue& events);

  /// The occupation of a resource by something other than a message.
  using Hold = core::LinkUse;
  /// Announces a hold. To be called before the first message is sent.
  void expect(const Hold& hold);
  /// Returns true if flows share links (model fair). The end of a hold is then reported by an event
  /// of kind kReleased.
  [[nodiscard]] bool shares() const { return fair_ != nullptr; }
  /// Occupies the resource as soon as its earlier users have left. Returns when the hold ends;
  /// kNever if its link is down and stays down. REQUIRES: !shares().
  core::Time hold(const Hold& hold, core::Time now);
  /// Like the function above, if links are shared. An event of kind kReleased with the address
  /// `holder` follows at the end; its handler records the carried bytes with carry(). REQUIRES:
  /// shares(); the hold has a link and a duration.
  void hold(const Hold& hold, core::Time now, std::uint64_t order, Address holder,
            EventQueue& events);
  void carry(const Hold& hold, core::Time start, core::Time end);

  /// Handles kHop.
  void reach(const Event& event, EventQueue& events);
  /// Handles kShare.
  void share(const Event& event, EventQueue& events);

  /// Schedules the changes of links' bandwidths, as events of kind kChange. To be called once,
  /// before the first message.
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
    core::Time began_moving;  ///< when the first byte left the sender
    /// The sender's causal chain plus the time of the message; null if causal chains are not kept.
    const CausalChain* causal_chain = nullptr;
  };
  /// Handles kDeliver and kReleased. Returns the message that has arrived. Its causal chain is
  /// valid until the next message is sent or delivered.
  Arrival deliver(const Event& event);

 private:
  struct Message {
    std::int32_t path = 0;
    std::int32_t branches = -1;  ///< index into branches_ if the path is not a chain; else -1
    core::Bytes bytes;
    std::uint64_t order = 0;
    core::Time sent;
    core::Time began_moving;
    /// Chains: when the last byte reaches the next section.
    core::Time tail;
    Address receiver;  ///< the address of a message with one receiver
    core::Time queued_time;
    core::Time stretch_began;     ///< model `fair`: when the current stretch began
    std::int32_t queued_at = -1;  ///< the link with the longest wait; -1: none
    std::uint16_t undelivered = 1;
    std::uint8_t stretch = 0;  ///< model `fair`: index of the current stretch
    /// True: not a message but a hold of a link, which ends with an event of kind kReleased.
    bool hold = false;
  };
  static_assert(sizeof(Message) == 80);  // with a CausalChain: three cache lines
  /// The state of a message on a path that is not a chain, by hop.
  struct Branches {
    std::vector<core::Time> tails;       ///< by hop: when the tail reaches the hop, as far as known
    std::vector<std::uint16_t> missing;  ///< by hop: number of heads that have not arrived yet
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
    return message.branches < 0
               ? message.receiver
               : branches_[static_cast<std::size_t>(message.branches)].receivers[receiver];
  }

  core::PathBook paths_;
  std::vector<Server> resources_;
  Ties* ties_ = nullptr;
  LinkHealth health_;
  Sections sections_;                ///< models `fifo` and `ideal`
  std::size_t changes_to_come_ = 0;  ///< number of pending events of kind kChange
  std::unique_ptr<FairLinks> fair_;  ///< only for the model `fair`
  LinkLoads loads_;
  bool keep_causal_chains_;
  std::vector<Message> messages_;
  std::vector<CausalChain> causal_chains_;  ///< by message; only if causal chains are kept
  /// The causal chain of the last delivery, copied if other receivers of the message are pending.
  CausalChain delivered_;
  std::vector<std::uint32_t> free_messages_;
  std::vector<Branches> branches_;
  std::vector<std::int32_t> free_branches_;
};

}  // namespace tutti::sim
