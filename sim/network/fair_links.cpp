#include "sim/network/fair_links.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"
#include "sim/network/link_health.h"

namespace tutti::sim {

using core::Bandwidth;
using core::LinkId;
using core::Path;
using core::PathHop;
using core::Time;

namespace {

/// Returns the latency from hop `first` to each receiver. Relies on the order of a path's hops:
/// each hop precedes its successors.
std::vector<Time> lags_of(const Path& path, std::size_t first) {
  std::vector<Time> reached(path.hops.size());
  std::vector<Time> lags;
  for (std::size_t i = first; i < path.hops.size(); ++i) {
    const PathHop& hop = path.hops[i];
    reached[i] += hop.latency;
    for (std::uint16_t n = 0; n < hop.nexts; ++n) {
      Time& next = reached[path.next[hop.first_next + n]];
      next = std::max(next, reached[i]);
    }
    if (hop.nexts > 0) continue;
    if (lags.size() <= hop.receiver) lags.resize(hop.receiver + std::size_t{1});
    lags[hop.receiver] = reached[i];
  }
  return lags;
}

}  // namespace

FairLinks::FairLinks(const core::Cluster& cluster)
    : cluster_(cluster), share_(cluster.widest_link()) {}

FairShare::Link FairLinks::link(LinkId id) {
  const auto [known, fresh] = links_.try_emplace(id, 0);
  if (fresh) {
    known->second = share_.add_link(cluster_.link(id).bandwidth);
    ids_.push_back(id);
  }
  return known->second;
}

/// Returns a link of FairShare that represents the threads of a host which process bytes as they
/// arrive. All messages through these threads share its capacity. The threads are not a link of the
/// cluster, so they are not reported as a bottleneck.
FairShare::Link FairLinks::threads(core::ResourceId id, const core::HostEndpoint& host) {
  const auto [known, fresh] = links_.try_emplace(id, 0);
  if (fresh) {
    known->second = share_.add_link(std::min(host.rate(), share_.widest()));
    ids_.push_back(-1);
  }
  return known->second;
}

/// Adds a route for a segment. `narrowest` is the minimum bandwidth of the segment's links. If a
/// message is slower than `narrowest` even without competing traffic, the route limits the rate of
/// each flow.
FairShare::Route FairLinks::route(const PathSegment& segment, std::vector<FairShare::Link> links,
                                  Bandwidth narrowest) {
  for (const LinkId id : segment.links) links.push_back(link(id));
  return share_.add_route(links, segment.alone < narrowest ? segment.alone : Bandwidth());
}

const FairLinks::Way& FairLinks::way(std::int32_t id, const core::PathTable& paths) {
  const std::size_t index = id;
  if (ways_.size() <= index) ways_.resize(index + 1);
  Way& way = ways_[index];
  if (!way.segments.empty()) return way;
  const Path& path = paths.path(id);
  constexpr Bandwidth kNoLimit(std::numeric_limits<std::int64_t>::max());
  const auto serves = [&](const PathHop& hop, bool with_bytes) {
    PathSegment service;
    service.host = hop.host;
    service.resource = hop.resource;
    service.with_bytes = with_bytes;
    way.segments.push_back(std::move(service));
  };
  struct Flow {
    std::size_t segment = 0;
    Bandwidth narrowest;
    std::vector<FairShare::Link> threads;
  };
  std::vector<Flow> flows;
  bool in_flow = false;
  std::size_t last_begins = 0;
  for (std::size_t i = 0; i < path.hops.size(); ++i) {
    const PathHop& hop = path.hops[i];
    if (i == 0 || hop.staged) {
      in_flow = false;
      last_begins = i;
    }
    if (hop.host != nullptr && hop.host->whole) {
      serves(hop, true);
      in_flow = false;
      continue;
    }
    // Threads that process bytes as they arrive also have an overhead per message. This overhead is
    // spent before the first byte or, at the receiver, after the last byte.
    const bool behind = in_flow;
    if (hop.host != nullptr && !behind && hop.host->per_message > Time()) serves(hop, false);
    if (hop.host == nullptr || hop.host->thread.count() > 0) {
      if (!in_flow) {
        way.segments.emplace_back();
        way.segments.back().alone = kNoLimit;
        flows.push_back({way.segments.size() - 1, kNoLimit, {}});
        in_flow = true;
      }
      Flow& flow = flows.back();
      PathSegment& segment = way.segments[flow.segment];
      segment.latency += hop.latency;
      segment.alone = std::min(segment.alone, hop.rate);
      if (hop.host == nullptr) {
        segment.links.push_back(hop.link());
        flow.narrowest = std::min(flow.narrowest, cluster_.link(hop.link()).bandwidth);
      } else {
        flow.threads.push_back(threads(hop.resource, *hop.host));
        flow.narrowest = std::min(flow.narrowest, share_.capacity(flow.threads.back()));
      }
    }
    if (hop.host != nullptr && behind && hop.host->per_message > Time()) {
      serves(hop, false);
      in_flow = false;
    }
  }
  TUTTI_CHECK(path.chain || way.segments.size() == 1, "a tree of {} segments", way.segments.size());
  TUTTI_CHECK(!flows.empty(), "a way without links");
  TUTTI_CHECK(way.segments.size() < 256, "a way of {} segments", way.segments.size());
  for (Flow& flow : flows) {
    PathSegment& segment = way.segments[flow.segment];
    segment.route = route(segment, std::move(flow.threads), flow.narrowest);
  }
  way.leaves = flows.front().segment;
  way.lags =
      path.chain ? std::vector<Time>{way.segments.back().latency} : lags_of(path, last_begins);
  return way;
}

void FairLinks::start(FairShare::Route route, core::Bytes bytes, std::uint32_t message, Time now,
                      EventQueue& events) {
  share_.start(route, bytes, message);
  schedule_admission(now, events);
}

void FairLinks::set_share(LinkId id, std::int64_t share_ppm, Time now, EventQueue& events) {
  share_.set_capacity(link(id), part_of(cluster_.link(id).bandwidth, share_ppm));
  schedule_admission(now, events);
}

void FairLinks::schedule_admission(Time now, EventQueue& events) {
  if (awaited_ == now) return;
  awaited_ = now;
  events.push({now, std::numeric_limits<std::uint64_t>::max(), EventKind::kShare, ++stamp_, 0});
}

const std::vector<FairLinks::Done>& FairLinks::update(Time now) {
  ended_.clear();
  done_.clear();
  share_.update(now, ended_);
  for (const FairShare::Done& flow : ended_) {
    done_.push_back(
        {static_cast<std::uint32_t>(flow.id), flow.bottleneck < 0 ? -1 : ids_[flow.bottleneck]});
  }
  return done_;
}

void FairLinks::wake(EventQueue& events) {
  awaited_ = share_.next();
  ++stamp_;
  if (awaited_ < core::kNever)
    events.push(
        {awaited_, std::numeric_limits<std::uint64_t>::max(), EventKind::kShare, stamp_, 0});
}

}  // namespace tutti::sim
