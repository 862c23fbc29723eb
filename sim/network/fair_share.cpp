// The header explains the algorithm. update() executes it in the order of this file: it ends flows,
// admits new flows and capacities, computes new rates (filling), and then commits them. A filling
// covers a region, which consists of the links and routes whose `round` is the current `round_`.
// Because this mark is a number, it never has to be cleared, and the cost depends on the size of
// the region and not on the size of the network. New rates are stored in `next_rate` and
// `next_group`, and take effect only in commit(). Before commit(), fits() adds overloaded links to
// the region, and the filling is repeated. After three attempts, the whole connected component is
// filled. The level of a link in the heap `fill_heap_` is a lower bound, because it can only rise
// when the rates of other routes are fixed. If an entry is outdated when it is popped, it is
// inserted again with the current level.

#include "sim/network/fair_share.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "core/base/check.h"

namespace tutti::sim {

using core::Bandwidth;
using core::Bytes;
using core::kNever;
using core::Time;

namespace {

/// Moves the element at index `place` of a binary heap up or down to its final position. Calls
/// `placed` with the new index of each element that moves.
template <class Item, class Before, class Placed>
void sift_heap(std::vector<Item>& heap, std::size_t place, Before before, Placed placed) {
  const Item item = heap[place];
  while (place > 0 && before(item, heap[(place - 1) / 2])) {
    heap[place] = heap[(place - 1) / 2];
    placed(heap[place], place);
    place = (place - 1) / 2;
  }
  while (true) {
    std::size_t child = 2 * place + 1;
    if (child >= heap.size()) break;
    if (child + 1 < heap.size() && before(heap[child + 1], heap[child])) ++child;
    if (!before(heap[child], item)) break;
    heap[place] = heap[child];
    placed(heap[place], place);
    place = child;
  }
  heap[place] = item;
  placed(item, place);
}

}  // namespace

FairShare::FairShare(Bandwidth widest) {
  TUTTI_CHECK(widest.count() > 0, "widest = {}", widest.count());
  widest_ = widest;
  const auto bits = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(widest.count())));
  shift_ = std::min(30, 63 - bits);
}

FairShare::Group FairShare::new_group(Link l) {
  groups_.emplace_back();
  groups_.back().link = l;
  return static_cast<Group>(groups_.size()) - 1;
}

FairShare::Link FairShare::add_link(Bandwidth capacity) {
  const auto id = static_cast<Link>(links_.size());
  links_.emplace_back();
  links_.back().capacity = rate_of(capacity);
  links_.back().group = new_group(id);
  return id;
}

FairShare::Route FairShare::add_route(std::span<const Link> links, Bandwidth cap) {
  TUTTI_CHECK(!links.empty() || cap.count() > 0, "a route without links and without a cap");
  RouteState state;
  state.first = static_cast<Position>(route_links_.size());
  state.links = static_cast<std::uint32_t>(links.size());
  Progress progress;
  if (cap.count() > 0) {
    state.cap = rate_of(cap);
    progress.own = new_group(-1);
    group(progress.own).rate = group(progress.own).next_rate = state.cap;
  }
  route_links_.insert(route_links_.end(), links.begin(), links.end());
  route_places_.resize(route_links_.size());
  routes_.push_back(state);
  progress_.push_back(std::move(progress));
  return static_cast<Route>(routes_.size()) - 1;
}

void FairShare::start(Route r, Bytes bytes, std::uint64_t id) {
  arrivals_.push_back({r, bytes, id});
}

void FairShare::set_capacity(Link l, Bandwidth capacity) {
  capacities_.emplace_back(l, rate_of(capacity));
}

double FairShare::rate(Route r) const {
  const RouteState& state = routes_[r];
  return state.flows == 0
             ? 0
             : static_cast<double>(state.rate) / static_cast<double>(std::uint64_t{1} << shift_);
}

Bandwidth FairShare::capacity(Link l) const {
  return Bandwidth(static_cast<std::int64_t>(links_[l].capacity >> shift_));
}

double FairShare::load(Link l) const {
  return static_cast<double>(links_[l].load) / static_cast<double>(std::uint64_t{1} << shift_);
}

void FairShare::update(Time now, std::vector<Done>& done) {
  ++round_;
  region_.clear();
  filled_.clear();
  lowest_ = kNoCap;
  grown_ = 0;
  over_all_links_ = false;
  end_flows(now, done);
  admit(now);
  if (region_.empty() && filled_.empty()) return;
  for (int attempt = 1;; ++attempt) {
    grow();
    fill();
    if (fits()) break;
    if (attempt == kMaxAttempts) fill_all_links();
  }
  commit(now);
}

// --- changes ---

void FairShare::end_flows(Time now, std::vector<Done>& done) {
  while (!ending_.empty() && group(ending_.front()).next <= now) {
    const Group g = ending_.front();
    advance(group(g), now);
    const Volume reached = group(g).clock + (group(g).rate >> kSlack);
    while (!group(g).routes.empty() && progress(group(g).routes.front()).mark <= reached)
      end_flows_of(g, group(g).routes.front(), done);
    refresh(g);
  }
}

/// Ends those flows of a route that are complete.
void FairShare::end_flows_of(Group g, Route r, std::vector<Done>& done) {
  RouteState& state = route(r);
  Progress& p = progress(r);
  const Volume reached = group(g).clock + (group(g).rate >> kSlack) + p.ahead;
  std::uint32_t ended = 0;
  for (; !p.flows.empty() && p.flows.front().mark <= reached; ++ended) {
    done.push_back({p.flows.front().id, group(g).link});
    std::pop_heap(p.flows.begin(), p.flows.end(), Flow::ends_later);
    p.flows.pop_back();
  }
  const Rate less = state.rate * ended;
  flows_ -= ended;
  state.flows -= ended;
  state.carried -= less;
  lowest_ = std::min(lowest_, state.rate);
  for (const Link l : links_of(state)) {
    link(l).load -= less;
    link(l).flows -= ended;
  }
  if (state.flows > 0) {
    p.mark = p.flows.front().mark - p.ahead;
    restore_heap(group(g), static_cast<std::size_t>(p.place));
  } else {
    remove(g, r);
    take_off_links(r);
    state.group = kNoGroup;
    state.rate = 0;
  }
  // When a flow leaves, other flows can become faster only on links that were full.
  for (const Link l : links_of(state)) {
    if (is_full(link(l))) enter(l);
  }
}

void FairShare::admit(Time now) {
  for (const Arrival& arrival : arrivals_) {
    RouteState& state = route(arrival.route);
    Progress& p = progress(arrival.route);
    if (state.flows++ == 0) {
      put_on_links(arrival.route);
      p.ahead = 0;
    }
    ++flows_;
    for (const Link l : links_of(state)) ++link(l).flows;
    Volume clock = p.ahead;
    if (state.group != kNoGroup) {
      advance(group(state.group), now);
      clock += group(state.group).clock;
    }
    const Volume volume = (static_cast<Volume>(arrival.bytes.count()) *
                           static_cast<Volume>(core::kPicosecondsPerSecond))
                          << shift_;
    p.flows.push_back({clock + volume, arrival.id});
    std::push_heap(p.flows.begin(), p.flows.end(), Flow::ends_later);
  }
  for (const auto& [l, capacity] : capacities_) {
    LinkState& state = link(l);
    if (state.flows > 0) {
      lowest_ = std::min(lowest_, std::min(state.capacity, capacity) / state.flows);
      enter(l);
    }
    state.capacity = capacity;
  }
  // The level of a link is at least its capacity divided by its number of flows. Routes with rates
  // below this value keep their rates.
  for (const Arrival& arrival : arrivals_) {
    const RouteState& state = route(arrival.route);
    lowest_ = std::min(lowest_, state.cap);
    for (const Link l : links_of(state)) {
      lowest_ = std::min(lowest_, link(l).capacity / link(l).flows);
      enter(l);
    }
    visit(arrival.route);
  }
  arrivals_.clear();
  capacities_.clear();
}

void FairShare::put_on_links(Route r) {
  const RouteState& state = route(r);
  for (Position p = state.first; p < state.first + state.links; ++p) {
    std::vector<Entry>& list = link(route_links_[p]).routes;
    route_places_[p] = static_cast<std::uint32_t>(list.size());
    list.push_back({r, p});
  }
}

void FairShare::take_off_links(Route r) {
  const RouteState& state = route(r);
  for (Position p = state.first; p < state.first + state.links; ++p) {
    std::vector<Entry>& list = link(route_links_[p]).routes;
    const Entry last = list.back();
    list[route_places_[p]] = last;
    route_places_[last.position] = route_places_[p];
    list.pop_back();
  }
}
// --- filling ---

/// Extends the region to the whole connected component. The whole component is filled at the last
/// attempt, because extending the region link by link could take long.
void FairShare::fill_all_links() {
  over_all_links_ = true;
  for (std::size_t i = 0; i < filled_.size(); ++i) {
    for (const Link l : links_of(route(filled_[i]))) enter(l);
  }
}

void FairShare::enter(Link l) {
  if (link(l).round == round_) return;
  link(l).round = round_;
  region_.push_back(l);
}

void FairShare::visit(Route r) {
  RouteState& state = route(r);
  if (state.round == round_) return;
  state.round = round_;
  filled_.push_back(r);
  for (const Link l : links_of(state)) {
    if (over_all_links_ || is_full(link(l))) enter(l);
  }
}

/// Finds the routes to be filled: all routes over links of the region, except those whose rate is
/// below the lowest level. The links of these routes may in turn be added to the region.
void FairShare::grow() {
  for (; grown_ < region_.size(); ++grown_) {
    LinkState& l = link(region_[grown_]);
    l.kept = 0;
    l.filled = 0;
    // The loop is safe, because visit() changes region_ and filled_, but not this link's list of
    // routes.
    for (const Entry& entry : l.routes) {
      const RouteState& state = route(entry.route);
      if (state.round != round_ && state.rate < lowest_) {
        l.kept += state.carried;
        continue;
      }
      l.filled += state.flows;
      visit(entry.route);
    }
  }
}

void FairShare::fill() {
  ++work_.fillings;
  work_.routes_filled += static_cast<std::int64_t>(filled_.size());
  const auto later = [](const FillEvent& a, const FillEvent& b) { return a.after(b); };
  fill_heap_.clear();
  for (const Link id : region_) {
    LinkState& l = link(id);
    group(l.group).next_rate = 0;
    l.left = l.capacity > l.kept ? l.capacity - l.kept : 0;
    l.open_flows = l.filled;
    if (l.open_flows > 0) fill_heap_.push_back({l.left / l.open_flows, id});
  }
  for (const Route r : filled_) {
    route(r).next_group = kNoGroup;
    if (route(r).cap != kNoCap) fill_heap_.push_back({route(r).cap, -1 - r});
  }
  std::make_heap(fill_heap_.begin(), fill_heap_.end(), later);
  std::size_t missing = filled_.size();
  while (missing > 0) {
    TUTTI_CHECK(!fill_heap_.empty(), "{} of {} routes have no bottleneck", missing, filled_.size());
    std::pop_heap(fill_heap_.begin(), fill_heap_.end(), later);
    const FillEvent first = fill_heap_.back();
    fill_heap_.pop_back();
    if (first.what < 0) {
      const Route r = -1 - first.what;
      if (route(r).next_group == kNoGroup) fix(r, first.level, progress(r).own), --missing;
      continue;
    }
    LinkState& l = link(first.what);
    if (l.open_flows == 0) continue;
    // The link's level may have risen since the entry was made, because other routes were fixed at
    // lower rates. The level is at least 1 unless the link is down. With rate 0, a flow would never
    // end.
    const Rate level = std::max<Rate>(l.left / l.open_flows, l.capacity > 0 ? 1 : 0);
    if (level > first.level) {
      fill_heap_.push_back({level, first.what});
      std::push_heap(fill_heap_.begin(), fill_heap_.end(), later);
      continue;
    }
    for (const Entry& entry : l.routes) {
      const RouteState& state = route(entry.route);
      if (state.round == round_ && state.next_group == kNoGroup)
        fix(entry.route, level, l.group), --missing;
    }
  }
}

void FairShare::fix(Route r, Rate level, Group bottleneck) {
  RouteState& state = route(r);
  state.next_group = bottleneck;
  state.next_rate = level;
  group(bottleneck).next_rate = level;
  for (const Link id : links_of(state)) {
    LinkState& l = link(id);
    if (l.round != round_) continue;
    const Rate taken = level * state.flows;
    l.left = l.left > taken ? l.left - taken : 0;
    l.open_flows -= state.flows;
  }
}

/// True if the links outside the region can carry the new rates of the filled routes. Adds all
/// links that cannot to the region.
bool FairShare::fits() {
  unsaturated_.clear();
  for (const Route r : filled_) {
    const RouteState& state = route(r);
    for (const Link id : links_of(state)) {
      LinkState& l = link(id);
      if (l.round == round_) continue;
      if (l.change == 0) unsaturated_.push_back(id);
      l.change +=
          static_cast<Change>(state.next_rate) * state.flows - static_cast<Change>(state.carried);
    }
  }
  bool all = true;
  for (const Link id : unsaturated_) {
    LinkState& l = link(id);
    // A link may be listed twice; `change` already contains the changes of all routes at its first
    // entry.
    if (static_cast<Change>(l.load) + l.change > static_cast<Change>(l.capacity)) {
      enter(id);
      all = false;
    }
    l.change = 0;
  }
  return all;
}

void FairShare::commit(Time now) {
  for (const Link l : region_) touch(link(l).group, now);
  for (const Route r : filled_) {
    RouteState& state = route(r);
    const Rate carried = state.next_rate * state.flows;
    for (const Link l : links_of(state)) link(l).load += carried - state.carried;
    state.carried = carried;
    state.rate = state.next_rate;
    move(r, now);
  }
  for (const Group g : touched_) {
    GroupState& state = group(g);
    state.touched = false;
    state.rate = state.next_rate;
    refresh(g);
  }
  touched_.clear();
}

/// Moves the route to the group of its new bottleneck, and converts its marks to the clock of this
/// group.
void FairShare::move(Route r, Time now) {
  RouteState& state = route(r);
  Progress& p = progress(r);
  touch(state.next_group, now);
  if (state.group != state.next_group) {
    ++work_.routes_moved;
    if (state.group != kNoGroup) {
      touch(state.group, now);
      p.ahead += group(state.group).clock;
      remove(state.group, r);
    }
    p.ahead -= group(state.next_group).clock;
    p.mark = p.flows.front().mark - p.ahead;
    state.group = state.next_group;
    insert(state.group, r);
  } else if (p.mark != p.flows.front().mark - p.ahead) {
    p.mark = p.flows.front().mark - p.ahead;
    restore_heap(group(state.group), static_cast<std::size_t>(p.place));
  }
}

// --- clocks and heaps ---

void FairShare::advance(GroupState& g, Time now) {
  g.clock += static_cast<Volume>(g.rate) * static_cast<Volume>((now - g.since).count());
  g.since = now;
}

void FairShare::touch(Group g, Time now) {
  GroupState& state = group(g);
  if (state.touched) return;
  state.touched = true;
  advance(state, now);
  touched_.push_back(g);
}

/// Computes the time at which the group's next flow will end at its current rate. REQUIRES: the
/// clock of the group was advanced to the current time.
void FairShare::refresh(Group g) {
  GroupState& state = group(g);
  state.next = kNever;
  if (!state.routes.empty() && state.rate > 0) {
    const Volume mark = progress(state.routes.front()).mark;
    const Volume reached = state.clock + (state.rate >> kSlack);
    Volume ps = 0;
    if (mark > reached) ps = (mark - reached + state.rate - 1) / state.rate;
    const auto longest = static_cast<Volume>(core::kLongestDuration.count());
    state.next = core::later(state.since, Time(static_cast<std::int64_t>(std::min(ps, longest))));
  }
  if (state.next == kNever) {
    if (state.place < 0) return;
    const std::size_t hole = std::exchange(state.place, -1);
    const Group last = ending_.back();
    ending_.pop_back();
    if (last == g) return;
    ending_[hole] = last;
    group(last).place = static_cast<std::int32_t>(hole);
    return sift_ending(hole);
  }
  if (state.place < 0) {
    state.place = static_cast<std::int32_t>(ending_.size());
    ending_.push_back(g);
  }
  sift_ending(static_cast<std::size_t>(state.place));
}

void FairShare::insert(Group g, Route r) {
  GroupState& state = group(g);
  progress(r).place = static_cast<std::int32_t>(state.routes.size());
  state.routes.push_back(r);
  restore_heap(state, state.routes.size() - 1);
}

void FairShare::remove(Group g, Route r) {
  GroupState& state = group(g);
  const std::size_t hole = std::exchange(progress(r).place, -1);
  const Route last = state.routes.back();
  state.routes.pop_back();
  if (last == r) return;
  state.routes[hole] = last;
  progress(last).place = static_cast<std::int32_t>(hole);
  restore_heap(state, hole);
}

void FairShare::restore_heap(GroupState& g, std::size_t place) {
  sift_heap(
      g.routes, place, [this](Route a, Route b) { return progress(a).mark < progress(b).mark; },
      [this](Route r, std::size_t at) { progress(r).place = static_cast<std::int32_t>(at); });
}

void FairShare::sift_ending(std::size_t place) {
  sift_heap(
      ending_, place, [this](Group a, Group b) { return group(a).next < group(b).next; },
      [this](Group g, std::size_t at) { group(g).place = static_cast<std::int32_t>(at); });
}

}  // namespace tutti::sim
