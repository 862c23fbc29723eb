#pragma once

// Shares links between flows with max-min fairness, updated incrementally as flows come and go.
//
// Rates are max-min fair if no flow can get more without taking from one that has no more than it.
// The classical algorithm is progressive filling (Bertsekas & Gallager, "Data Networks", section
// 6.5.2): all rates rise together; when a link is full, its flows stay at this *level*; the others
// continue to rise. Every flow ends up with a *bottleneck*: a link that is full and on which no
// flow has a higher rate. So a flow's rate is the level of its bottleneck.
//
// Doing that for all flows at every arrival and departure is what makes fluid simulators slow:
// 8,192 flows that end one by one would need 8,192 fillings of thousands of flows each, and as many
// updates of every flow's remaining bytes. Four techniques make it cheap here:
//
// 1. Flows with the same links are one *route* with a number of flows. 512 equal messages between
//    two hosts are filled as one, and its flows end in the order of their remaining bytes.
// 2. A flow is not touched when its rate changes. A bottleneck keeps a *clock*: the bytes that each
//    of its flows has moved since the clock began (its level, integrated over time). A flow ends
//    when the clock reaches a mark that is known when the flow starts, so each bottleneck holds its
//    routes in a heap by the next mark. When levels change, one clock gets another rate instead of
//    thousands of flows another end. A route that changes its bottleneck keeps the difference of
//    the two clocks.
// 3. Lower levels are kept. If a flow of rate x leaves, filling is unchanged up to level x: routes
//    with lower rates keep them. An arrival does not change rates below capacity / flows of its
//    tightest link.
// 4. Unaffected links are not visited. Filling starts with the full links of the flows that came or
//    went, and adds other links only if they are full and on a route that is filled. Links that are
//    not full are checked afterwards: if one is overloaded, it is added, and the filling repeated.
//    So a ring over 4,096 hosts costs two links per message, not a filling of 4,096.
//
// In the many-to-many push of tests/bench (256 workers to 32 servers, 8,192 flows of 7 sizes, a
// quarter of the workers slow) there are 6,062 fillings of 288 routes on average, with up to 8,192
// active routes; one in 200 filled routes changes its bottleneck.
//
// Numbers are integers. A rate is in units of 2^-s bytes per second, with s as large as possible
// for the widest link to fit into 63 bits (28 for 25 GB/s) but at most 30, and rounded down, so
// that no link ever carries more than its capacity. Clocks count 2^-s bytes per second times
// picoseconds in 128 bits, without rounding. Rounding rates down delays the end of a flow by far
// less than a picosecond; a flow that would end within 2^-12 ps after a whole picosecond ends
// there.

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

  /// `widest`: the maximum bandwidth of a link. REQUIRES: above 0.
  explicit FairShare(core::Bandwidth widest);

  Link add_link(core::Bandwidth capacity);
  /// Adds a route over `links`, each at most once, on which no flow is faster than `cap` (0: no
  /// limit).
  /// REQUIRES: at least one link or a cap.
  Route add_route(std::span<const Link> links, core::Bandwidth cap);

  /// Starts a flow of `bytes`; settle() updates all rates. Done::id is `id` when it ends.
  /// REQUIRES: bytes > 0.
  void start(Route route, core::Bytes bytes, std::uint64_t id);
  /// Sets the link's bandwidth; 0: its flows stand still. Takes effect in settle().
  void set_capacity(Link link, core::Bandwidth capacity);

  struct Done {
    std::uint64_t id = 0;
    Link bottleneck = -1;  ///< the link that limits the flow at its end; -1: its route's own cap
  };
  /// Ends the flows that are complete, admits those that were started, and updates all rates;
  /// appends the flows that ended to `done`.
  /// REQUIRES: `now` is not before the last call and not after next().
  void settle(core::Time now, std::vector<Done>& done);
  /// Returns when the next flow ends if none starts before; kNever if none ends.
  [[nodiscard]] core::Time next() const {
    return ending_.empty() ? core::kNever : group(ending_.front()).next;
  }

  /// Returns the rate of each flow of the route, in bytes per second; 0 if it has none.
  [[nodiscard]] double rate(Route route) const;
  /// Returns the link's current load in bytes per second.
  [[nodiscard]] double load(Link link) const;
  [[nodiscard]] std::int64_t flows() const { return flows_; }
  /// Returns the maximum bandwidth of a link.
  [[nodiscard]] core::Bandwidth widest() const { return widest_; }
  [[nodiscard]] core::Bandwidth capacity(Link link) const;

  /// Counters of the work done.
  struct Work {
    std::int64_t fillings = 0;
    std::int64_t routes_filled = 0;  ///< number of routes filled, over all fillings
    std::int64_t routes_moved = 0;   ///< routes that changed their bottleneck
  };
  [[nodiscard]] const Work& work() const { return work_; }

 private:
  using Rate = std::uint64_t;             ///< unit: 2^-shift_ bytes per second
  __extension__ using Change = __int128;  ///< change of a Rate
  using Volume = core::Wide;  ///< Rate times picoseconds; differences of clocks wrap around
  /// A bottleneck (a link, or the cap of a route) and the routes it limits.
  using Group = std::int32_t;
  using Position = std::uint32_t;  ///< index into route_links_
  static constexpr Group kNoGroup = -1;
  static constexpr Rate kNoCap = std::numeric_limits<Rate>::max();
  /// A flow with less left than its rate times 2^-kSlack ps is complete.
  static constexpr int kSlack = 12;

  /// A route on a link's list: the route, and the index of the link in its own list.
  struct Entry {
    Route route = 0;
    Position position = 0;
  };
  struct LinkState {
    Rate capacity = 0;
    Rate load = 0;
    std::uint32_t flows = 0;
    std::uint32_t round = 0;  ///< number of the last filling that included the link
    Group group = kNoGroup;
    std::vector<Entry> routes;  ///< routes that have flows
    // While filling:
    Rate left = 0;
    std::uint32_t rising = 0;  ///< flows that are not yet fixed
    Rate kept = 0;             ///< sum of the rates of routes that are not filled
    std::uint32_t filled = 0;  ///< flows of the routes that are filled
    Change change = 0;
  };
  struct RouteState {
    Position first = 0;
    std::uint32_t links = 0;
    std::uint32_t flows = 0;
    std::uint32_t round = 0;  ///< number of the last filling that included the route
    Group group = kNoGroup;
    Group next_group = kNoGroup;
    Rate rate = 0;
    Rate next_rate = 0;
    Rate carried = 0;  ///< total rate of the route as included in the loads of its links
    Rate cap = kNoCap;
  };
  struct Flow {
    Volume mark = 0;  ///< the route's clock when the flow ends
    std::uint64_t id = 0;
    static bool ends_later(const Flow& a, const Flow& b) {
      return a.mark != b.mark ? a.mark > b.mark : a.id > b.id;
    }
  };
  /// The progress of a route's flows.
  struct Progress {
    Volume ahead = 0;         ///< the route's clock minus the group's clock
    Volume mark = 0;          ///< the group's clock when the route's first flow ends
    std::int32_t place = -1;  ///< index in the group's heap of routes
    Group own = kNoGroup;     ///< the group of the route's own cap
    std::vector<Flow> flows;  ///< a heap whose top is the first flow to end
  };
  struct GroupState {
    Rate rate = 0;
    Rate next_rate = 0;
    Volume clock = 0;  ///< the group's clock at `since`
    core::Time since;
    core::Time next = core::kNever;  ///< when the group's first flow ends
    std::int32_t place = -1;         ///< index in ending_
    Link link = -1;
    bool touched = false;
    std::vector<Route> routes;  ///< a heap by Progress::mark
  };
  struct Rising {
    Rate level = 0;
    std::int32_t what = 0;  ///< a link; or -1 - r for the cap of route r
    [[nodiscard]] bool after(const Rising& other) const {
      return level != other.level ? level > other.level : what > other.what;
    }
  };

  [[nodiscard]] LinkState& link(Link l) { return links_[static_cast<std::size_t>(l)]; }
  [[nodiscard]] RouteState& route(Route r) { return routes_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] Progress& progress(Route r) { return progress_[static_cast<std::size_t>(r)]; }
  [[nodiscard]] GroupState& group(Group g) { return groups_[static_cast<std::size_t>(g)]; }
  [[nodiscard]] const GroupState& group(Group g) const {
    return groups_[static_cast<std::size_t>(g)];
  }
  [[nodiscard]] std::span<const Link> links_of(const RouteState& r) const {
    return {route_links_.data() + r.first, r.links};
  }
  [[nodiscard]] Rate rate_of(core::Bandwidth bandwidth) const {
    return static_cast<Rate>(bandwidth.count()) << shift_;
  }
  /// True if the link is full: it is the bottleneck of some route.
  [[nodiscard]] bool is_full(const LinkState& l) const { return !group(l.group).routes.empty(); }
  Group new_group(Link link);

  // Apply changes of flows.
  void end_flows(core::Time now, std::vector<Done>& done);
  void end_flows_of(Group g, Route r, std::vector<Done>& done);
  void admit(core::Time now);
  void put_on_links(Route r);
  void take_off_links(Route r);

  // Filling.
  static constexpr int kMaxAttempts = 3;
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
  std::vector<Link> route_links_;  ///< the links of all routes, concatenated
  /// By index into route_links_: the route's position in that link's list.
  std::vector<std::uint32_t> route_places_;
  std::vector<Group> ending_;  ///< groups that have flows: a heap by `next`

  struct Arrival {
    Route route = 0;
    core::Bytes bytes;
    std::uint64_t id = 0;
  };
  std::vector<Arrival> arrivals_;
  std::vector<std::pair<Link, Rate>> capacities_;

  // The current filling:
  std::uint32_t round_ = 0;
  Rate lowest_ = 0;  ///< routes with a rate below this keep it
  std::vector<Link> region_;
  std::size_t grown_ = 0;
  bool over_all_links_ = false;
  std::vector<Route> filled_;
  std::vector<Link> beside_;  ///< links that are not full, but on a filled route
  std::vector<Rising> rising_;
  std::vector<Group> touched_;
  Work work_;
};

}  // namespace tutti::sim
