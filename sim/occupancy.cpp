#include "sim/occupancy.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace tutti::sim {

using core::Lane;
using core::LinkId;
using core::LinkKind;
using core::PartId;
using core::Rank;
using core::Step;
using core::Time;

namespace {

/// One way of a rank, and what goes along it.
struct Way {
  std::int32_t path = 0;
  bool far = false;
  PartId from, to;
  std::int32_t away = 0;
};

}  // namespace

Footprint::Part Footprint::part_of(LinkId link, bool far, const core::Cluster& cluster) const {
  if (link < 0) return far ? Part::kPort : Part::kInside;  // a port of the ideal network
  if (link < cluster.switch_links()) return Part::kSwitches;
  const LinkKind kind = cluster.link(link).kind;
  if (kind == LinkKind::kNetwork) return Part::kPort;
  return kind == inside_ || (inside_ == LinkKind::kPcie && kind == LinkKind::kSocket) ? Part::kInside : Part::kOnTheWay;
}

Footprint::Footprint(const core::Collective& collective, const core::Group& group, core::PathBook& paths) {
  const core::Schedule& schedule = collective.nccl_ways ? *collective.nccl_ways : *collective.schedule;
  const core::Cluster& cluster = group.cluster();
  std::vector<std::pair<Way, double>> ways;
  for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
    for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
      schedule.visit_ways(rank, lane, [&](const Step& step) {
        if (step.kind == core::StepKind::kMulticast || step.kind == core::StepKind::kSwitchReduce) return;
        const PartId from = group.device(rank);
        const PartId to = group.device(step.to.rank(rank, schedule.ranks()));
        const std::int32_t path =
            paths.unicast(from, to, collective.staging, schedule.engine(rank, lane), step.to.away);
        const bool far = step.to.away != 0 || from.worker != to.worker;
        ways.push_back(
            {{path, far, from, to, step.to.away}, static_cast<double>(std::max<std::int64_t>(1, step.source.count))});
      });
    }
  }
  const bool nvlink = std::any_of(ways.begin(), ways.end(), [&](const auto& way) {
    const auto& hops = paths.path(way.first.path).hops;
    return std::any_of(hops.begin(), hops.end(), [&](const core::PathHop& hop) {
      return hop.link >= cluster.switch_links() && cluster.link(hop.link).kind == LinkKind::kNvlink;
    });
  });
  inside_ = nvlink ? LinkKind::kNvlink : LinkKind::kPcie;
  std::map<std::pair<core::ResourceId, LinkId>, std::size_t> known;
  std::map<std::int32_t, std::pair<double, double>> of_worker;  // out, in
  const auto add = [&](core::ResourceId resource, LinkId link, core::Bandwidth rate, bool far, double elements) {
    const auto [at, fresh] = known.try_emplace({resource, link}, places_.size());
    if (fresh) places_.push_back({resource, link, rate, part_of(link, far, cluster), 0, 0});
    (far ? places_[at->second].far : places_[at->second].near) += elements;
  };
  for (const auto& [way, elements] : ways) {
    const core::Path& path = paths.path(way.path);
    for (const core::PathHop& hop : path.hops) add(hop.resource, hop.link, hop.rate, way.far, elements);
    for (const LinkId link : path.silent_links) add(-1, link, cluster.link(link).bandwidth, way.far, elements);
    if (!way.far) continue;
    of_worker[way.from.worker].first += elements;
    of_worker[way.to.worker].second += elements;
  }
  for (const Place& place : places_) {
    if (place.part == Part::kInside) most_near_ = std::max(most_near_, place.near);
    if (place.part == Part::kPort) most_far_ = std::max(most_far_, place.far);
  }
  for (const auto& [worker, both] : of_worker) most_of_worker_ = std::max({most_of_worker_, both.first, both.second});
}

std::vector<Network::Hold> Footprint::holds(const core::nccl::CollectiveTime& time) const {
  std::vector<Network::Hold> holds;
  const auto part_of = [](double part, double whole) { return whole > 0 ? part / whole : 0; };
  const auto part_of_time = [](Time whole, double part) {
    return Time(static_cast<std::int64_t>(std::floor(static_cast<double>(whole.count()) * part)));
  };
  for (const Place& place : places_) {
    const double far_bytes = time.time.cards.bytes * part_of(place.far, most_of_worker_);
    const double near_bytes = time.time.links.bytes * part_of(place.near, most_near_);
    Network::Hold hold;
    hold.resource = place.resource;
    hold.link = place.link;
    hold.rate = place.rate;
    hold.carried = core::Bytes(std::llround(far_bytes + near_bytes));
    if (place.resource >= 0) {
      const core::Bytes unknown(std::llround(place.part == Part::kInside ? far_bytes : far_bytes + near_bytes));
      switch (place.part) {
        case Part::kInside:
          hold.busy = part_of_time(time.links, part_of(place.near, most_near_)) + transfer_time(unknown, place.rate);
          break;
        case Part::kPort: hold.busy = part_of_time(time.cards, part_of(place.far, most_far_)); break;
        case Part::kSwitches:
        case Part::kOnTheWay: hold.busy = transfer_time(unknown, place.rate); break;
      }
      // What is inside the workers the measured time knows; what is between their ports it does not.
      if (place.part != Part::kSwitches) hold.busy = std::min(hold.busy, time.work);
    }
    if (hold.busy > Time() || hold.carried.count() > 0) holds.push_back(hold);
  }
  return holds;
}

}  // namespace tutti::sim
