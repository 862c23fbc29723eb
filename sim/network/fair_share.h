#pragma once

// Shares links between flows with max-min fairness. Rates are updated incrementally when flows
// start and end.
//
// Rates are max-min fair if no flow can become faster without slowing down another flow that is at
// most as fast. The classical algorithm is progressive filling (Bertsekas & Gallager, "Data
// Networks", section 6.5.2). All rates rise together. When a link is full, the rates of its flows
// stay at this *level*, and all other rates continue to rise. Every flow ends up with a
// *bottleneck*: a full link on which no flow has a higher rate. The rate of a flow is the level of
// its bottleneck.
//
// Fluid simulators are slow if every arrival and departure leads to a new filling of all flows. For
// example, 8,192 flows that end one by one need 8,192 fillings of thousands of flows each, and each
// filling updates the remaining bytes of every flow. Four techniques avoid that:
//
// 1. Flows with the same links are one *route* with a number of flows. 512 equal messages between
//    two hosts are filled as one route, whose flows end in the order of their remaining bytes.
// 2. A change of a flow's rate does not change any data of the flow. Each bottleneck has a *clock*:
//    the bytes that each of its flows has moved since the clock began (the level, integrated over
//    time). A flow ends when the clock reaches a mark, which is known when the flow starts, so each
//    bottleneck keeps its routes in a heap ordered by the next mark. When a level changes, only the
//    rate of one clock changes, and the end times of thousands of flows need no update. A route
//    that changes its bottleneck stores the difference between the two clocks.
// 3. Lower levels are kept. If a flow of rate x leaves, routes with a rate below x keep their
//    rates. An arriving flow does not change rates that are below the smallest capacity per flow of
//    its links.
// 4. Unaffected links are not visited. Filling starts with the full links of the flows that arrived
//    or left, and adds another link only if it is full and on a route that is filled. Links that
//    are not full are checked afterwards; if a link is overloaded, it is added and the filling is
//    repeated. In a ring over 4,096 hosts, each message therefore costs a filling of two links
//    instead of 4,096 links.
//
// The benchmark of a many-to-many push in tests/bench (256 workers to 32 servers, 8,192 flows of 7
// sizes, a quarter of the workers slow, up to 8,192 active routes) takes 6,062 fillings of 288
// routes on average. One in 200 filled routes changes its bottleneck.
//
// All numbers are integers. A rate is in units of 2^-s bytes per second. The exponent s is at most
// 30, and as large as possible so that the rate of the widest link fits into 63 bits (28 for 25
// GB/s). Rates are rounded down, so no link ever carries more than its capacity. Clocks count in
// units of 2^-s bytes per second times picoseconds, in 128 bits and without rounding. Rounding
// rates down delays the end of a flow by far less than a picosecond. To compensate, a flow that
// would end less than 2^-12 ps after a whole picosecond ends at this picosecond.

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

  /// `widest` is the maximum bandwidth of any link, and must be above 0.
  explicit FairShare(core::Bandwidth widest);

  Link add_link(core::Bandwidth capacity);
  /// Adds a route over `links`, in which a link occurs at most once. `cap` limits the rate of each
  /// flow on the route; 0 means no limit. REQUIRES: at least one link or a cap.
  Route add_route(std::span<const Link> links, core::Bandwidth cap);

  /// Adds a flow of `bytes`, which starts at the next call of update(). A later call of update()
  /// reports the end of the flow with Done::id = `id`. REQUIRES: bytes > 0.
  void start(Route route, core::Bytes bytes, std::uint64_t id);
  /// Sets the link's bandwidth, starting with the next call of update(). A bandwidth of 0 stops all
  /// flows over the link.
  void set_capacity(Link link, core::Bandwidth capacity);

  struct Done {
    std::uint64_t id = 0;
    Link bottleneck = -1;  ///< the link that limited the flow when it ended; -1 if the cap of its
                           ///< route limited the flow
  };
  /// Appends the flows that have ended to `done`, starts the flows that were added, and updates all
  /// rates. REQUIRES: `now` is not earlier than in the last call, and not later than next().
  void update(core::Time now, std::vector<Done>& done);
  /// Returns the time at which the next flow ends, if no other flow starts before; kNever if there
  /// are no flows.
  [[nodiscard]] core::Time next() const {
    return ending_.empty() ? core::kNever : group(ending_.front()).next;
  }

  /// Returns the rate of each flow of the route, in bytes per second; 0 if the route has no flows.
  [[nodiscard]] double rate(Route route) const;
  /// Returns the link's current load in bytes per second.
  [[nodiscard]] double load(Link link) const;
  [[nodiscard]] std::int64_t flows() const { return flows_; }
  /// Returns the maximum bandwidth of links that was passed to the constructor.
  [[nodiscard]] core::Bandwidth widest() const { return widest_; }
  [[nodiscard]] core::Bandwidth capacity(Link link) const;

  /// Counters of the work that this object has done.
  struct Work {
    std::int64_t fillings = 0;
    std::int64_t routes_filled = 0;  ///< number of routes in each filling, summed over all fillings
    std::int64_t routes_moved = 0;   ///< number of changes of a route's bottleneck
  };
  [[nodiscard]] const Work& work() const { return work_; }

 private:
  using Rate = std::uint64_t;             ///< unit: 2^-shift_ bytes per second
  __extension__ using Change = __int128;  ///< change of a Rate
  using Volume = core::Wide;  ///< a rate multiplied by picoseconds; differences of clocks wrap
                              ///< around
  /// The number of a group, which consists of a bottleneck (a link or the cap of a route) and the
  /// routes that it limits.
  using Group = std::int32_t;
  using Position = std::uint32_t;  ///< index into route_links_
  static constexpr Group kNoGroup = -1;
  static constexpr Rate kNoCap = std::numeric_limits<Rate>::max();
  /// A flow counts as complete if its remaining bytes take at most 2^-kSlack ps at its rate.
  static constexpr int kSlack = 12;

  /// An entry in a link's list of routes: a route, and the index in route_links_ at which the route
  /// lists the link.
  struct Entry {
    Route route = 0;
    Position position = 0;
  };
  struct LinkState {
    Rate capacity = 0;
    Rate load = 0;
    std::uint32_t flows = 0;
    std::uint32_t round = 0;  ///< sequence number of the last filling that included the link
    Group group = kNoGroup;
    std::vector<Entry> routes;  ///< routes that have flows
    // While filling:
    Rate left = 0;
    std::uint32_t open_flows = 0;  ///< number of flows whose rates are not yet fixed
    Rate kept = 0;                 ///< total rate of the link's routes that the filling does not
                                   ///< include
    std::uint32_t filled = 0;      ///< number of flows of the link's routes that the filling
                                   ///< includes
    Change change = 0;
  };
  struct RouteState {
    Position first = 0;
    std::uint32_t links = 0;
    std::uint32_t flows = 0;
    std::uint32_t round = 0;  ///< sequence number of the last filling that included the route
    Group group = kNoGroup;
    Group next_group = kNoGroup;
    Rate rate = 0;
    Rate next_rate = 0;
    Rate carried =
        0;  ///< total rate of the route's flows that is included in the loads of the links
    Rate cap = kNoCap;
  };
  struct Flow {
    Volume mark = 0;  ///< value of the route's clock at which this flow ends
    std::uint64_t id = 0;
    static bool ends_later(const Flow& a, const Flow& b) {
      return a.mark != b.mark ? a.mark > b.mark : a.id > b.id;
    }
  };
  /// The progress of a route's flows.
  struct Progress {
    Volume ahead = 0;         ///< difference of the route's clock and the group's clock
    Volume mark = 0;          ///< value of the group's clock at which the route's first flow ends
    std::int32_t place = -1;  ///< index in the group's heap of routes
    Group own = kNoGroup;     ///< the group of the route's own cap
    std::vector<Flow> flows;  ///< a heap; its first element is the flow that ends next
  };
  struct GroupState {
    Rate rate = 0;
    Rate next_rate = 0;
    Volume clock = 0;  ///< the group's clock at `since`
    core::Time since;
    core::Time next = core::kNever;  ///< time at which the next flow of the group ends
    std::int32_t place = -1;         ///< index in ending_
    Link link = -1;
    bool touched = false;
    std::vector<Route> routes;  ///< a heap, ordered by Progress::mark
  };
  struct FillEvent {
    Rate level = 0;
    std::int32_t what = 0;  ///< the bottleneck: a link, or -1 - r for the cap of route r
    [[nodiscard]] bool after(const FillEvent& other) const {
      return level != other.level ? level > other.level : what > other.what;
    }
  };

  [[nodiscard]] LinkState& link(Link l) { return links_[l]; }
  [[nodiscard]] RouteState& route(Route r) { return routes_[r]; }
  [[nodiscard]] Progress& progress(Route r) { return progress_[r]; }
  [[nodiscard]] GroupState& group(Group g) { return groups_[g]; }
  [[nodiscard]] const GroupState& group(Group g) const { return groups_[g]; }
  [[nodiscard]] std::span<const Link> links_of(const RouteState& r) const {
    return {route_links_.data() + r.first, r.links};
  }
  [[nodiscard]] Rate rate_of(core::Bandwidth bandwidth) const {
    return static_cast<Rate>(bandwidth.count()) << shift_;
  }
  /// True if the link is full, that is, if it is the bottleneck of at least one route.
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
  void restore_heap(GroupState& g, std::size_t place);
  void sift_ending(std::size_t place);

  core::Bandwidth widest_;
  int shift_ = 0;
  std::int64_t flows_ = 0;
  std::vector<LinkState> links_;
  std::vector<RouteState> routes_;
  std::vector<Progress> progress_;
  std::vector<GroupState> groups_;
  std::vector<Link> route_links_;  ///< the links of all routes, concatenated
  /// For each entry of route_links_, the position of the route in the link's list of routes.
  std::vector<std::uint32_t> route_places_;
  std::vector<Group> ending_;  ///< groups that have flows, as a heap ordered by `next`

  struct Arrival {
    Route route = 0;
    core::Bytes bytes;
    std::uint64_t id = 0;
  };
  std::vector<Arrival> arrivals_;
  std::vector<std::pair<Link, Rate>> capacities_;

  // The current filling:
  std::uint32_t round_ = 0;
  Rate lowest_ = 0;  ///< routes with rates below this value keep their rates
  std::vector<Link> region_;
  std::size_t grown_ = 0;
  bool over_all_links_ = false;
  std::vector<Route> filled_;
  std::vector<Link> unsaturated_;  ///< links that are not full but are on a route that the filling
                                   ///< includes
  std::vector<FillEvent> fill_heap_;
  std::vector<Group> touched_;
  Work work_;
};

}  // namespace tutti::sim
