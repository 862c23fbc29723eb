#pragma once

// Who gets how much of the links that flows share: max-min fairness, kept up to date as flows come and go.
//
// Rates are max-min fair if no flow can get more without taking from one that has no more than it. The classical way
// there is progressive filling (Bertsekas & Gallager, "Data Networks", section 6.5.2): all rates rise alike; when a link
// is full, its flows stay at this *level*; the others rise on. Every flow ends up with a *bottleneck*: a link that is
// full and on which nobody has more. So a flow's rate is the level of its bottleneck.
//
// Doing that for all flows at every arrival and departure is what makes fluid simulators slow: 8,192 flows that end one
// by one would be 8,192 fillings of thousands of flows each, and as many changes of what every flow still has to move.
// Four things make it cheap here:
//
// 1. Flows with equal links are one *route* with a number of flows. 512 equal messages between two hosts are one
//    thing to fill, whose flows end in the order of what they have left.
// 2. Nobody touches a flow whose rate changes. A bottleneck keeps a *clock*: how many bytes each of its flows has moved
//    since the clock began (its level, integrated over time). A flow ends when the clock reaches a mark that was known
//    when it came, so each bottleneck holds its routes in a heap by the next mark, and when levels change, one clock
//    gets another pace instead of thousands of flows another end. A route that changes its bottleneck takes along the
//    difference of the two clocks.
// 3. What lies below stays. If a flow of rate x leaves, filling goes as before up to level x: routes with less
//    keep what they have. An arrival leaves alone all that is below capacity / flows of its tightest link.
// 4. What lies beside stays. Filling starts with the full links of the flows that came or went and takes in further
//    links only over routes that it fills and only if those links are full too. Links that are not full are looked at
//    afterwards: one that would have to carry more than it can is taken in, and the filling repeated. So a ring over
//    4,096 hosts costs each message two links, not a filling of 4,096.
//
// In the many-to-many push of tests/bench (256 workers to 32 servers, 8,192 flows of 7 sizes, a quarter of the workers
// slow) there are 6,062 fillings of 288 routes on average, where up to 8,192 are alive; one in 200 routes that are filled
// changes its bottleneck.
//
// Numbers are integers. A rate is kept in 2^-s bytes per second, s as large as lets the widest link fit into 63 bits (28
// for 25 GB/s) but at most 30, and rounded down, so that no link ever carries more than its capacity; clocks
// count 2^-s bytes per second times picoseconds in 128 bits, without rounding. What rounding down the rates may add to the
// end of a flow is far below a picosecond; a flow that would end within 2^-12 ps after a whole picosecond ends there.

#include <cstdint>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "core/base/units.h"

namespace tutti::sim {

class FairShare {
 public:
  using Link = std::int32_t;
  using Route = std::int32_t;

  /// `widest`: no link has more. REQUIRES: above 0.
  explicit FairShare(core::Bandwidth widest);

  Link add_link(core::Bandwidth capacity);
  /// A way over `links`, each at most once, on which no flow goes faster than `cap` (0: no such limit).
  /// REQUIRES: at least one link or a cap.
  Route add_route(std::span<const Link> links, core::Bandwidth cap);

  /// A flow of `bytes` joins; what it and others get is known after settle(). `id` comes back when it has ended.
  /// REQUIRES: bytes > 0.
  void start(Route route, core::Bytes bytes, std::uint64_t id);
  /// The link carries this much from now on; 0: nothing, so that its flows stand still. Known after settle().
  void set_capacity(Link link, core::Bandwidth capacity);

  struct Done {
    std::uint64_t id = 0;
    Link bottleneck = -1;  ///< at the end; -1: its own cap
  };
  /// Ends the flows that are through, lets in those that were started, and shares anew; appends who ended to `done`.
  /// REQUIRES: `now` is not before the last call and not after next().
  void settle(core::Time now, std::vector<Done>& done);
  /// When the next flow ends, as long as none joins; kNever if none does.
  [[nodiscard]] core::Time next() const { return ending_.empty() ? core::kNever : group(ending_.front()).next; }

  /// Of each flow of the route, in bytes per second; 0 if it has none.
  [[nodiscard]] double rate(Route route) const;
  /// What the link carries, in bytes per second.
  [[nodiscard]] double load(Link link) const;
  [[nodiscard]] std::int64_t flows() const { return flows_; }
  /// No link may have more.
  [[nodiscard]] core::Bandwidth widest() const { return widest_; }
  [[nodiscard]] core::Bandwidth capacity(Link link) const;

  /// How much work there was.
  struct Work {
    std::int64_t fillings = 0;
    std::int64_t routes_filled = 0;  ///< over all fillings
    std::int64_t routes_moved = 0;   ///< that got another bottleneck
  };
  [[nodiscard]] const Work& work() const { return work_; }

 private:
  using Rate = std::uint64_t;             ///< in 2^-shift_ bytes per second
  __extension__ using Change = __int128;  ///< of a Rate
  using Volume = core::Wide;              ///< Rate times picoseconds; differences of clocks wrap around
  using Group = std::int32_t;             ///< a bottleneck: a link, or the cap of a route
  using Position = std::uint32_t;         ///< in route_links_
  static constexpr Group kNoGroup = -1;
  static constexpr Rate kNoCap = std::numeric_limits<Rate>::max();
  /// A flow that has left less than its rate times 2^-kSlack ps is through.
  static constexpr int kSlack = 12;

  /// A route on a link's list: which, and where its own list of links says so.
  struct Entry {
    Route route = 0;
    Position position = 0;
  };
  struct LinkState {
    Rate capacity = 0;
    Rate load = 0;
    std::uint32_t flows = 0;
    std::uint32_t round = 0;  ///< of the filling that it is part of
    Group group = kNoGroup;
    std::vector<Entry> routes;  ///< those with flows
    // While filling:
    Rate left = 0;
    std::uint32_t rising = 0;  ///< flows that are not yet fixed
    Rate kept = 0;             ///< what routes below carry
    std::uint32_t filled = 0;  ///< flows of routes that are filled
    Change change = 0;
  };
  struct RouteState {
    Position first = 0;
    std::uint32_t links = 0;
    std::uint32_t flows = 0;
    std::uint32_t round = 0;  ///< of the filling that it is part of
    Group group = kNoGroup;
    Group next_group = kNoGroup;
    Rate rate = 0;
    Rate next_rate = 0;
    Rate carried = 0;  ///< what it puts on its links, as their loads know it
    Rate cap = kNoCap;
  };
  struct Flow {
    Volume mark = 0;  ///< of the route's clock
    std::uint64_t id = 0;
    static bool ends_later(const Flow& a, const Flow& b) { return a.mark != b.mark ? a.mark > b.mark : a.id > b.id; }
  };
  /// What a route knows about its flows' progress.
  struct Progress {
    Volume ahead = 0;         ///< its clock less the group's
    Volume mark = 0;          ///< of the group's clock: where its first flow ends
    std::int32_t place = -1;  ///< in the group's heap
    Group own = kNoGroup;     ///< its cap as a bottleneck
    std::vector<Flow> flows;  ///< a heap, first to end on top
  };
  struct GroupState {
    Rate rate = 0;
    Rate next_rate = 0;
    Volume clock = 0;  ///< at `since`
    core::Time since;
    core::Time next = core::kNever;  ///< when its first flow ends
    std::int32_t place = -1;         ///< in ending_
    Link link = -1;
    bool touched = false;
    std::vector<Route> routes;  ///< a heap by mark
  };
  struct Rising {
    Rate level = 0;
    std::int32_t what = 0;  ///< a link, or -1 less a route
    [[nodiscard]] bool after(const Rising& other) const {
      return level != other.level ? level > other.level : what > other.what;
    }
  };

  [[nodiscard]] LinkState& link(Link l) { return links_[static_cast<std::size_t>(l)]; }
  [[nodiscard]] RouteState& route(Route r) { return routes_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] Progress& progress(Route r) { return progress_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] GroupState& group(Group g) { return groups_[static_cast<std::size_t>(g)]; }
  [[nodiscard]] const GroupState& group(Group g) const { return groups_[static_cast<std::size_t>(g)]; }
  [[nodiscard]] std::span<const Link> links_of(const RouteState& r) const {
    return {route_links_.data() + r.first, r.links};
  }
  [[nodiscard]] Rate rate_of(core::Bandwidth bandwidth) const { return static_cast<Rate>(bandwidth.count()) << shift_; }
  /// A full link: somebody's bottleneck.
  [[nodiscard]] bool is_full(const LinkState& l) const { return !group(l.group).routes.empty(); }
  Group new_group(Link link);

  // What changed.
  void end_flows(core::Time now, std::vector<Done>& done);
  void end_flows_of(Group g, Route r, std::vector<Done>& done);
  void admit(core::Time now);
  void put_on_links(Route r);
  void take_off_links(Route r);

  // Filling.
  static constexpr int kMostAttempts = 3;
  void fill_all_links();
  void enter(Link l);
  void grow();
  void visit(Route r);
  void fill();
  void fix(Route r, Rate level, Group bottleneck);
  bool fits();
  void commit(core::Time now);
  void move(Route r, core::Time now);

  // Clocks and heaps.
  void advance(GroupState& g, core::Time now);
  void touch(Group g, core::Time now);
  void refresh(Group g);
  void insert(Group g, Route r);
  void remove(Group g, Route r);
  void sift(GroupState& g, std::size_t place);
  void sift_ending(std::size_t place);

  core::Bandwidth widest_;
  int shift_ = 0;
  std::int64_t flows_ = 0;
  std::vector<LinkState> links_;
  std::vector<RouteState> routes_;
  std::vector<Progress> progress_;
  std::vector<GroupState> groups_;
  std::vector<Link> route_links_;            ///< of all routes, one after the other
  std::vector<std::uint32_t> route_places_;  ///< likewise: where the link's list has the route
  std::vector<Group> ending_;                ///< groups with flows, a heap by `next`

  struct Arrival {
    Route route = 0;
    core::Bytes bytes;
    std::uint64_t id = 0;
  };
  std::vector<Arrival> arrivals_;
  std::vector<std::pair<Link, Rate>> capacities_;

  // Of the filling at hand:
  std::uint32_t round_ = 0;
  Rate lowest_ = 0;  ///< rates below stay
  std::vector<Link> region_;
  std::size_t grown_ = 0;
  bool over_all_links_ = false;
  std::vector<Route> filled_;
  std::vector<Link> beside_;  ///< not full, but on a filled route
  std::vector<Rising> rising_;
  std::vector<Group> touched_;
  Work work_;
};

}  // namespace tutti::sim
