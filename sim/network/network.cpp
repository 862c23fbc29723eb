// A message is simulated in one of three ways. (1) With the models fifo and ideal, a message on a
// chain of hops is handled section by section, with one event for each section (sections.cpp). If
// the whole path is one section and no causal chain is kept, all times are computed when the
// message is sent; the message then has no record, and its arrival is the only event. (2) With the
// same models, a message on a tree (a multicast or an in-switch reduction) is handled hop by hop
// (serve()). (3) With the model fair, each segment of a path is a flow, whose end depends on other
// flows (fair_links.cpp). Records of messages are reused, so memory is proportional to the number
// of messages in flight. On arrival, deliver() divides the time of a message into latency, transfer
// time and host time; the rest counts as queueing.

#include "sim/network/network.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace tutti::sim {

using core::Bytes;
using core::Time;
using core::transfer_time;

Network::Network(const core::Cluster& cluster, core::NetworkModel model, LinkRange binned_links,
                 bool keep_causal_chains, LinkHealth health)
    : paths_(cluster, model),
      resources_(paths_.resources()),
      health_(std::move(health)),
      sections_(paths_.resources(), health_, binned_links),
      fair_(model == core::NetworkModel::kFair ? std::make_unique<FairLinks>(cluster) : nullptr),
      loads_(cluster.links(), binned_links),
      keep_causal_chains_(keep_causal_chains) {
  TUTTI_CHECK(cluster.links() <= std::numeric_limits<std::int32_t>::max(), "{} links",
              cluster.links());
}

std::uint32_t Network::new_message() {
  if (free_messages_.empty()) {
    messages_.emplace_back();
    if (keep_causal_chains_) causal_chains_.emplace_back();
    return static_cast<std::uint32_t>(messages_.size() - 1);
  }
  const std::uint32_t id = free_messages_.back();
  free_messages_.pop_back();
  return id;
}

Time Network::send(std::int32_t path, Bytes bytes, Time now, std::uint64_t order, Address receiver,
                   const CausalChain* causal_chain, EventQueue& events) {
  if (const std::uint32_t only =
          keep_causal_chains_ || fair_ ? Sections::kNone : sections_.only_section(path, paths_);
      only != Sections::kNone) {
    // The path is a single section, so no other message can affect this one after it is sent.
    // Compute all its times now, and add an event only for the arrival.
    if (ties_) ties_->wants(Ties::Thing::kResource, sections_.first_resource(only), now);
    const Sections::Passage passage = sections_.pass(only, bytes, now, now, resources_, loads_);
    if (!passage.lost)
      events.push(
          {passage.tail, order, EventKind::kArrive, receiver.instance, receiver.connection});
    return passage.left;
  }
  return send_one(path, bytes, now, order, receiver, false, causal_chain, events);
}

Time Network::send_one(std::int32_t path, Bytes bytes, Time now, std::uint64_t order,
                       Address receiver, bool is_occupation, const CausalChain* causal_chain,
                       EventQueue& events) {
  const std::uint32_t id = new_message();
  Message& message = messages_[id];
  message.path = path;
  message.bytes = bytes;
  message.order = order;
  message.sent = now;
  message.receiver = receiver;
  message.branches = -1;
  message.undelivered = 1;
  message.is_occupation = is_occupation;
  message.queued_time = Time();
  message.queued_at = -1;
  message.segment = 0;
  return start(id, now, causal_chain, events);
}

Time Network::send(std::int32_t path, Bytes bytes, Time now, std::uint64_t order,
                   std::vector<Address> receivers, const CausalChain* causal_chain,
                   EventQueue& events) {
  const std::uint32_t id = new_message();
  std::int32_t branches = static_cast<std::int32_t>(branches_.size());
  if (free_branches_.empty()) {
    branches_.emplace_back();
  } else {
    branches = free_branches_.back();
    free_branches_.pop_back();
  }
  Message& message = messages_[id];
  message = {};
  message.path = path;
  message.bytes = bytes;
  message.order = order;
  message.sent = now;
  message.branches = branches;
  message.undelivered = static_cast<std::uint16_t>(receivers.size());
  Branches& state = branches_[branches];
  const core::Path& hops = paths_.path(path);
  state.tails.assign(hops.hops.size(), Time());
  state.missing.clear();
  for (const core::PathHop& hop : hops.hops) state.missing.push_back(hop.parents);
  state.receivers = std::move(receivers);
  return start(id, now, causal_chain, events);
}

Time Network::start(std::uint32_t id, Time now, const CausalChain* causal_chain,
                    EventQueue& events) {
  if (keep_causal_chains_) causal_chains_[id] = *causal_chain;
  const core::Path& path = paths_.path(messages_[id].path);
  messages_[id].began_moving = now;
  if (path.hops.empty()) {
    events.push({now, messages_[id].order, EventKind::kDeliver, id, 0});
    return now;
  }
  if (fair_) return begin_stretch(id, now, events);
  messages_[id].began_moving = core::kNever;
  messages_[id].tail = now;
  Time sender_free = now;
  if (messages_[id].branches < 0) {
    sender_free = pass(id, sections_.first_place(messages_[id].path, path), now, events);
  } else {
    for (const std::uint16_t root : path.roots)
      sender_free = std::max(sender_free, serve(id, root, now, events));
  }
  if (!path.silent_links.empty()) load_silent_links(messages_[id], sender_free);
  return sender_free;
}

namespace {

/// Returns the number of bytes that are transferred in `time` at `rate`.
Bytes bytes_in(Time time, core::Bandwidth rate) {
  return Bytes(static_cast<std::int64_t>(static_cast<core::Wide>(time.count()) *
                                         static_cast<core::Wide>(rate.count()) /
                                         static_cast<core::Wide>(core::kPicosecondsPerSecond)));
}

}  // namespace

void Network::expect(const Occupation& occupation) {
  if (occupation.resource >= 0 && !fair_) sections_.expect_occupation(occupation.resource);
}

Time Network::occupy(const Occupation& occupation, Time now) {
  Time start = now;
  Time end = later(now, occupation.busy);
  if (occupation.resource >= 0) {
    Server& resource = resources_[occupation.resource];
    start = std::max(now, resource.free_at());
    const bool changes = occupation.link >= 0 && health_.changes(occupation.link);
    end = changes ? health_.tail(occupation.link, bytes_in(occupation.busy, occupation.rate),
                                 occupation.rate, start)
                  : later(start, occupation.busy);
    resource.occupy_until(end);
  }
  if (end != core::kNever) carry(occupation, start, end);
  return end;
}

void Network::carry(const Occupation& occupation, Time start, Time end) {
  if (occupation.link >= 0)
    loads_.add_occupation(occupation.link, occupation.carried, occupation.busy, start, end);
}

void Network::occupy(const Occupation& occupation, Time now, std::uint64_t order, Address receiver,
                     EventQueue& events) {
  const CausalChain nothing;
  const std::int32_t path = paths_.link_alone(occupation.link);
  const Bytes bytes = std::max(Bytes(1), bytes_in(occupation.busy, occupation.rate));
  send_one(path, bytes, now, order, receiver, true, &nothing, events);
}

void Network::reach(const Event& event, EventQueue& events) {
  if (fair_) {
    begin_stretch(event.a, event.time, events);
    return;
  }
  if (messages_[event.a].branches < 0) {
    if (ties_ && sections_.section(sections_.at(event.b)).received)
      ties_->comes_from(paths_.path(messages_[event.a].path).away);
    pass(event.a, event.b, event.time, events);
  } else {
    serve(event.a, static_cast<std::uint16_t>(event.b), event.time, events);
  }
}

/// Handles the arrival of a message's head at the section at position `place`. Returns the time at
/// which the message's tail has left the section's first hop.
Time Network::pass(std::uint32_t id, std::uint32_t place, Time now, EventQueue& events) {
  Message& message = messages_[id];
  if (ties_)
    ties_->wants(Ties::Thing::kResource, sections_.first_resource(sections_.at(place)), now);
  const Sections::Passage passage =
      sections_.pass(sections_.at(place), message.bytes, now, message.tail, resources_, loads_);
  message.began_moving = std::min(message.began_moving, passage.began);
  if (passage.lost) return passage.left;
  if (passage.queued > message.queued_time) {
    message.queued_time = passage.queued;
    message.queued_at = static_cast<std::int32_t>(passage.queued_at);
  }
  message.tail = passage.tail;
  if (sections_.is_last(place)) {
    events.push({passage.tail, message.order, EventKind::kDeliver, id, 0});
  } else {
    const bool staged = sections_.section(sections_.at(place + 1)).staged;
    events.push(
        {staged ? passage.tail : passage.head, message.order, EventKind::kHop, id, place + 1});
  }
  return passage.left;
}

/// Returns the time at which the message's tail has left the hop, if its head enters the hop at
/// `head` and its bytes arrive without delay.
Time Network::tail_of(const Message& message, const core::PathHop& hop, Time head) {
  if (head == core::kNever) return head;
  if (health_.changes(hop.link())) return health_.tail(hop.link(), message.bytes, hop.rate, head);
  return core::later(head, transfer_time(message.bytes, hop.rate));
}

/// Adds an event for each link whose bandwidth changes. With the models fifo and ideal, no events
/// are needed, because LinkHealth::tail() takes later changes into account.
void Network::schedule_changes(EventQueue& events) {
  if (!fair_) return;
  for (std::uint32_t which = 0; which < health_.links().size(); ++which) {
    const core::LinkId link = health_.links()[which];
    const LinkBandwidth::Phase& first = *health_.course(link).phase(0);
    if (first.share_ppm < 1'000'000) fair_->set_share(link, first.share_ppm, Time(), events);
    schedule_change(which, 1, events);
  }
}

void Network::schedule_change(std::uint32_t which, std::size_t phase, EventQueue& events) {
  const LinkBandwidth::Phase* const next = health_.course(health_.links()[which]).phase(phase);
  if (!next) return;
  events.push({next->from, which, EventKind::kChange, which, static_cast<std::uint32_t>(phase)});
  ++pending_changes_;
}

void Network::change(const Event& event, EventQueue& events) {
  // If no other events than changes of bandwidth are pending, nothing else will happen in the run.
  // If so, add no further changes, because bursts would continue forever.
  const bool alone = events.size() + 1 == pending_changes_--;
  const core::LinkId link = health_.links()[event.a];
  LinkBandwidth& course = health_.course(link);
  if (alone && course.has_bursts()) return;
  fair_->set_share(link, course.phase(event.b)->share_ppm, event.time, events);
  course.forget_before(event.time);
  schedule_change(event.a, event.b + std::size_t{1}, events);
}

/// Handles the arrival of a message's head at a hop of a tree. Returns the time at which the
/// message's tail has left the hop.
Time Network::serve(std::uint32_t id, std::uint16_t index, Time now, EventQueue& events) {
  Message& message = messages_[id];
  const core::Path& path = paths_.path(message.path);
  const core::PathHop& hop = path.hops[index];
  Branches& branches = branches_[message.branches];
  if (branches.missing[index] > 1) {
    --branches.missing[index];
    return now;
  }

  if (ties_) ties_->wants(Ties::Thing::kResource, hop.resource, now);
  const Time tail_here = std::max(branches.tails[index], now);
  Server& resource = resources_[hop.resource];
  const Time head = std::max(now, resource.free_at());
  const Time tail = std::max(tail_of(message, hop, head), tail_here);
  resource.occupy_until(tail);
  // If the link is down and stays down, the message never arrives.
  if (tail == core::kNever) return tail;
  message.began_moving = std::min(message.began_moving, head);
  if (head - now > message.queued_time) {
    message.queued_time = head - now;
    message.queued_at = static_cast<std::int32_t>(hop.link());
  }
  if (hop.is_link) loads_.add(hop.resource, message.bytes, head, tail);

  // Store when the tail reaches the next hops, and add an event for when the head reaches them.
  if (hop.nexts == 0) {
    events.push({tail + hop.latency, message.order, EventKind::kDeliver, id, hop.receiver});
    return tail;
  }
  for (std::uint16_t n = 0; n < hop.nexts; ++n) {
    const std::uint16_t next = path.next[hop.first_next + n];
    branches.tails[next] = std::max(branches.tails[next], tail + hop.latency);
    const Time arrives = (path.hops[next].staged ? tail : head) + hop.latency;
    events.push({arrives, message.order, EventKind::kHop, id, next});
  }
  return tail;
}

// --- fair ---

/// Begins the message's current segment. If the end of the segment is already known, returns it;
/// otherwise starts a flow.
Time Network::begin_stretch(std::uint32_t id, Time now, EventQueue& events) {
  Message& message = messages_[id];
  message.stretch_began = now;
  const FairLinks::Way& way = fair_->way(message.path, paths_);
  if (message.bytes.count() > 0 && way.segments[message.segment].host != nullptr)
    return be_served(id, way, now, events);
  if (message.bytes.count() > 0) {
    fair_->start(way.segments[message.segment].route, message.bytes, id, now, events);
    return core::kNever;
  }
  // A message without bytes needs no flow. Only the latencies count.
  Time arrives = now;
  for (std::size_t s = 0; s + 1 < way.segments.size(); ++s) arrives += way.segments[s].latency;
  for (const FairLinks::PathSegment& segment : way.segments) {
    if (segment.host != nullptr) arrives = core::later(arrives, segment.host->per_message);
  }
  for (std::uint32_t r = 0; r < way.lags.size(); ++r)
    events.push({arrives + way.lags[r], message.order, EventKind::kDeliver, id, r});
  return now;
}

/// Handles a segment that consists of a host's threads, which serve messages in order of arrival.
Time Network::be_served(std::uint32_t id, const FairLinks::Way& way, Time now, EventQueue& events) {
  Message& message = messages_[id];
  const FairLinks::PathSegment& segment = way.segments[message.segment];
  const core::HostEndpoint& host = *segment.host;
  Server& threads = resources_[segment.resource];
  const Time start = std::max(now, threads.free_at());
  const Time own = segment.with_bytes ? host.moving(message.bytes) : Time();
  const Time occupied =
      segment.with_bytes ? host.occupied(message.bytes) : host.occupied(core::Bytes());
  threads.occupy_until(core::later(start, occupied));
  const Time end = core::later(core::later(start, own), host.per_message);
  if (start - now > message.queued_time) {
    message.queued_time = start - now;
    message.queued_at = -1;
  }
  if (++message.segment < way.segments.size()) {
    events.push({end, message.order, EventKind::kHop, id, message.segment});
  } else {
    events.push({end + way.lags.front(), message.order, EventKind::kDeliver, id, 0});
  }
  return core::kNever;
}

void Network::share(const Event& event, EventQueue& events) {
  if (!fair_->is_due(event)) return;
  for (const FairLinks::Done& done : fair_->update(event.time))
    end_stretch(done.message, done.bottleneck, event.time, events);
  fair_->wake(events);
}

void Network::end_stretch(std::uint32_t id, core::LinkId bottleneck, Time now, EventQueue& events) {
  Message& message = messages_[id];
  const FairLinks::Way& way = fair_->way(message.path, paths_);
  const FairLinks::PathSegment& segment = way.segments[message.segment];
  // A flow may end 2^-12 ps early. However, a message must not be faster than it would be without
  // competing traffic.
  const Time alone = transfer_time(message.bytes, segment.alone);
  const Time end = std::max(now, core::later(message.stretch_began, alone));
  const Time shared = end - message.stretch_began - alone;
  if (shared > message.queued_time) {
    message.queued_time = shared;
    message.queued_at = static_cast<std::int32_t>(bottleneck);
  }
  // An occupation has no send buffer to free, and its carried bytes are recorded when it ends.
  if (message.is_occupation)
    return events.push({end + way.lags.front(), message.order, EventKind::kReleased, id, 0});
  for (const core::LinkId link : segment.links)
    loads_.add(link, message.bytes, message.stretch_began, end);
  if (message.segment == way.leaves) events.push({end, message.order, EventKind::kSent, id, 0});
  if (++message.segment < way.segments.size()) {
    events.push({end + segment.latency, message.order, EventKind::kHop, id, message.segment});
    return;
  }
  for (std::uint32_t r = 0; r < way.lags.size(); ++r)
    events.push({end + way.lags[r], message.order, EventKind::kDeliver, id, r});
}

Network::Departure Network::departed(const Event& event) const {
  const Message& message = messages_[event.a];
  return {address_of(message, 0), message.path, message.bytes, message.sent, message.queued_at};
}

void Network::carry_again(const LinkLoads::Totals& before, std::int64_t times) {
  sections_.flush_loads(loads_);
  loads_.add_again(before, times);
}

void Network::load_silent_links(const Message& message, Time end) {
  const core::Path& path = paths_.path(message.path);
  for (const core::LinkId link : path.silent_links)
    loads_.add(link, message.bytes, std::min(message.began_moving, end), end);
}

void Network::visit_state(StateVisitor& visitor) {
  if (fair_ || pending_changes_ > 0) visitor.unfit();
  for (Server& resource : resources_) resource.visit_state(visitor);
}

void Network::visit_message(std::uint32_t id, StateVisitor& visitor) {
  Message& message = messages_[id];
  if (message.branches >= 0) visitor.unfit();
  visitor.same(message.path);
  visitor.same(message.bytes.count());
  visit_order(message.order, visitor);
  visitor.moment(message.sent);
  visitor.moment(message.began_moving);
  visitor.moment(message.tail);
  visitor.same(message.receiver.instance);
  visitor.same(message.receiver.connection);
  visitor.recorded(message.queued_at);
  visitor.recorded(message.queued_time.count());
  visit_causal_chain(causal_chains_[id], visitor);
}

Network::Arrival Network::deliver(const Event& event) {
  Message& message = messages_[event.a];
  const core::Path& path = paths_.path(message.path);
  Arrival arrival{address_of(message, event.b), message.began_moving, nullptr};
  if (keep_causal_chains_) {
    // Extend a copy of the message's causal chain for each receiver but the last. The last receiver
    // uses the original.
    CausalChain& chain =
        message.undelivered == 1 ? causal_chains_[event.a] : (delivered_ = causal_chains_[event.a]);
    Time explained = path.latency;
    chain.parts.latency += path.latency;
    for (const core::Path::PathSegment& segment : path.segments) {
      const Time moving = transfer_time(message.bytes, segment.narrowest);
      chain.moved(segment.kind, segment.link, moving);
      explained += moving;
    }
    if (const Time hosts = path.chain ? path.of_hosts(message.bytes) : Time(); hosts > Time()) {
      chain.parts.host += hosts;
      explained += hosts;
    }
    // `rest` may be negative: a receiver of a multicast may be nearer than the one that determines
    // the path's latency.
    const Time rest = event.time - message.sent - explained;
    chain.parts.queue += rest;
    chain.waited_at(message.queued_at, message.queued_time);
    arrival.causal_chain = &chain;
  }
  if (--message.undelivered == 0) {
    if (message.branches >= 0) free_branches_.push_back(message.branches);
    free_messages_.push_back(event.a);
  }
  return arrival;
}

}  // namespace tutti::sim
