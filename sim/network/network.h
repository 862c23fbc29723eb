#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "core/network/link_use.h"
#include "core/network/path.h"
#include "sim/device/server.h"
#include "sim/engine/event_queue.h"
#include "sim/engine/state_visitor.h"
#include "sim/engine/trail.h"
#include "sim/folding/ties.h"
#include "sim/network/fair_links.h"
#include "sim/network/link_health.h"
#include "sim/network/link_loads.h"
#include "sim/network/sections.h"

namespace tutti::sim {

/// Who gets a message: a connection of a collective's instance per receiver. Opaque to the network.
struct Address {
  std::uint32_t instance = 0;
  std::uint32_t connection = 0;
};

/// Messages under way, cut-through.
///
/// The head of a message reaches a hop when it has left the one before and that hop's latency has passed; there it
/// waits until the resource has served everyone who came before. The tail leaves a hop when the hop has pushed all
/// bytes through, and not before it has arrived itself:
///     head_i = max(head_{i-1} + latency_{i-1}, free_i)      (tail_{i-1} in place of head_{i-1} where it is staged)
///     tail_i = max(head_i + bytes / rate_i, tail_{i-1} + latency_{i-1}),   and free_i = tail_i
/// Buffers between hops are unlimited. Alone, a message takes the sum of latencies plus bytes over the narrowest rate.
/// Hops that are reached in line (Sections) are gone through at once.
///
/// Threads of hosts (core/cluster/host_transport.h) are hops that serve a message for longer than they are held, if they are several;
/// links between them are held only for what a message's bytes take of them, however slowly they come.
///
/// `fair` instead: a stretch without staging is one flow over all its links, which moves at its max-min fair rate from the
/// moment when the message is sent; threads of hosts that stream are links that flows share, and what they take per message, or of a
/// message as a whole, is served in order; when its last byte has left the sender, the latency passes, then it is there.
class Network {
 public:
  /// `keep_trails`: messages carry what their senders' trails are, and tell of themselves when they arrive.
  /// `health`: links whose bandwidth changes. REQUIRES: none if the model is ideal.
  Network(const core::Cluster& cluster, core::NetworkModel model, LinkRange binned_links, bool keep_trails,
          LinkHealth health = {});

  [[nodiscard]] core::PathBook& paths() { return paths_; }
  [[nodiscard]] bool keeps_trails() const { return keep_trails_; }
  /// What the links have carried so far.
  const LinkLoads& loads() {
    sections_.settle(loads_);
    return loads_;
  }

  /// Has `ties` watched from now on (fifo and ideal; who shares fairly does not ask who came first).
  void watch(Ties& ties) { ties_ = &ties; }

  /// What links have carried since they had carried `before`, they carry so many times again.
  void carry_again(const LinkLoads::Totals& before, std::int64_t times);

  /// Who is busy and until when, of all resources. What shares fairly (fair) is unfit.
  void visit_state(StateVisitor& visitor);
  /// A message under way; unfit if it is no chain. REQUIRES: trails are kept.
  void visit_message(std::uint32_t id, StateVisitor& visitor);

  /// Messages may go along this path. Whoever tells all of them before the first is sent, and says so, has results sooner.
  void expect(std::int32_t path) { sections_.expect(paths_.path(path)); }
  void expect_no_other() { sections_.expect_no_other(); }

  /// Sends `bytes` along `path` at `now`. Answers when the sender's buffer is free again; kNever if that depends on what
  /// others will send (fair), then an event of kind kSent tells. Events of kind kHop and kDeliver follow, or one of kind
  /// kArrive; they carry `order`. `trail`: only if they are kept.
  core::Time send(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order,
                  std::vector<Address> receivers, const Trail* trail, EventQueue& events);
  /// The same for one receiver, without the allocation.
  core::Time send(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order, Address receiver,
                  const Trail* trail, EventQueue& events);

  /// What something that is no message has of a resource.
  using Hold = core::LinkUse;
  /// Such a thing may have the resource. Before the first message is sent.
  void expect(const Hold& hold);
  /// Everybody has a part of a link's bandwidth (fair), so that the end of a hold is told by an event of kind kReleased.
  [[nodiscard]] bool shares() const { return fair_ != nullptr; }
  /// The resource is held behind those who came before. Answers when that is over; kNever if its link is dead. REQUIRES: !shares().
  core::Time hold(const Hold& hold, core::Time now);
  /// The same where links are shared; `holder` is the address of the event at its end, and says then what was carried. REQUIRES:
  /// shares(); it has a link, and is busy.
  void hold(const Hold& hold, core::Time now, std::uint64_t order, Address holder, EventQueue& events);
  void carry(const Hold& hold, core::Time start, core::Time end);

  /// Handles kHop.
  void reach(const Event& event, EventQueue& events);
  /// Handles kShare.
  void share(const Event& event, EventQueue& events);

  /// Has links change at their time, by events of kind kChange. Once, before the first message.
  void schedule_changes(EventQueue& events);
  /// Handles kChange.
  void change(const Event& event, EventQueue& events);

  struct Departure {
    Address address;
    std::int32_t path = 0;
    core::Bytes bytes;
    core::Time sent;
    core::LinkId bottleneck = -1;  ///< where it had to share
  };
  /// Handles kSent: what left its sender.
  [[nodiscard]] Departure departed(const Event& event) const;

  struct Arrival {
    Address address;
    Trail trail;              ///< the sender's, and the message's own time
    core::Time began_moving;  ///< when the first byte left the sender
  };
  /// Handles kDeliver and kReleased: hands out what arrived.
  Arrival deliver(const Event& event);

 private:
  struct Message {
    std::int32_t path = 0;
    core::Bytes bytes;
    std::uint64_t order = 0;
    core::Time sent;
    core::Time began_moving;
    core::Time tail;             ///< where it goes on: when its last byte is there (chains)
    Address receiver;            ///< of a message with one receiver
    std::int32_t branches = -1;  ///< index into branches_, for everything that is no chain
    std::uint16_t undelivered = 1;
    bool hold = false;  ///< it is no message, and its end is an event of kind kReleased
    core::LinkId queued_at = -1;
    core::Time queued_time;
    std::uint16_t stretch = 0;  ///< under way (fair)
    core::Time stretch_began;
  };
  /// What a message that is no chain knows about each of its hops.
  struct Branches {
    std::vector<core::Time> tails;       ///< when the tail reaches the hop, as far as known
    std::vector<std::uint16_t> missing;  ///< heads that have not come yet
    std::vector<Address> receivers;
  };

  std::uint32_t new_message();
  core::Time send_one(std::int32_t path, core::Bytes bytes, core::Time now, std::uint64_t order, Address receiver,
                      bool hold, const Trail* trail, EventQueue& events);
  core::Time start(std::uint32_t id, core::Time now, const Trail* trail, EventQueue& events);
  core::Time pass(std::uint32_t id, std::uint32_t place, core::Time now, EventQueue& events);
  core::Time serve(std::uint32_t id, std::uint16_t hop, core::Time now, EventQueue& events);
  [[nodiscard]] core::Time tail_of(const Message& message, const core::PathHop& hop, core::Time head);
  void schedule_change(std::uint32_t which, std::size_t phase, EventQueue& events);
  void load_silent_links(const Message& message, core::Time now);
  core::Time be_served(std::uint32_t id, const FairLinks::Way& way, core::Time now, EventQueue& events);
  core::Time begin_stretch(std::uint32_t id, core::Time now, EventQueue& events);
  void end_stretch(std::uint32_t id, core::LinkId bottleneck, core::Time now, EventQueue& events);
  [[nodiscard]] Address address_of(const Message& message, std::uint32_t receiver) const {
    return message.branches < 0 ? message.receiver
                                : branches_[static_cast<std::size_t>(message.branches)].receivers[receiver];
  }

  core::PathBook paths_;
  std::vector<Server> resources_;
  Ties* ties_ = nullptr;
  LinkHealth health_;
  Sections sections_;                ///< fifo and ideal
  std::size_t changes_to_come_ = 0;  ///< events of kind kChange in the queue
  std::unique_ptr<FairLinks> fair_;  ///< only if that is the model
  LinkLoads loads_;
  bool keep_trails_;
  std::vector<Message> messages_;
  std::vector<Trail> trails_;  ///< by message; only if kept
  std::vector<std::uint32_t> free_messages_;
  std::vector<Branches> branches_;
  std::vector<std::int32_t> free_branches_;
};

}  // namespace tutti::sim
