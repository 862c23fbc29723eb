// A slow message indicates a slow link only if nothing else explains its time. Therefore three
// kinds of times are ignored: messages that shared a link with a message of another pack, all times
// of training steps in which workers waited for CPU cores, and times of messages and devices that
// were emulated in a worker's memory. The remaining times are grouped by sender, receiver, kind of
// step and number of bytes, because only equal messages can be compared. The route of a message is
// not in the timeline; it is computed from the cluster and from the staging of the run's packs. To
// find messages that shared a link, the messages of each link are traversed in the order of their
// starts. outliers.cpp compares the groups.

#include "core/calibrate/routes.h"

#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/calibrate/message_times.h"
#include "core/scenario/scenario.h"
#include "core/schedule/step.h"
#include "core/timeline/reader.h"

namespace tutti::core {
namespace {

/// Reads the times of messages and additions from a timeline. Messages are grouped by sender and
/// receiver, additions by device.
class Listening : public NullSink {
 public:
  void track(const Track& track) override { tracks_[track.id] = {track.worker, track.device}; }

  void span(TrackId id, const Span& span) override {
    times_.span(id, span);
    lane_steps = lane_steps || (span.kind >= 0 && span.kind < SpanKind::kFirstCompute);
    const auto own = tracks_.find(id);
    if (own == tracks_.end() || span.kind != static_cast<std::int32_t>(StepKind::kReduce)) return;
    const double us = to_us(span.duration - span.wait);
    if (us > 0) added_.push_back({own->second, span.step, {span.kind, span.bytes.count()}, us});
  }

  void step(const StepRecord& step) override {
    ++steps;
    const Time wait = std::min(step.core_wait, step.communication);
    const double share = step.communication > Time() ? to_us(wait) / to_us(step.communication) : 0;
    if (share > kMaxWaitShare) waits[step.step] = share;
  }

  void end() override {
    for (const MessageTimes::Message& message : times_.messages()) {
      const auto from = tracks_.find(message.sender);
      const auto to = tracks_.find(message.receiver);
      if (from == tracks_.end() || to == tracks_.end() || from->second == to->second) continue;
      if (!waits.contains(message.step))
        messages.emplace_back(Ends{from->second, to->second}, message);
    }
    for (const Added& one : added_) {
      if (!waits.contains(one.step)) additions[one.device][one.identical].push_back(one.us);
    }
  }

  std::vector<std::pair<Ends, MessageTimes::Message>> messages;
  std::map<DeviceAt, Samples> additions;
  bool lane_steps = false;
  int steps = 0;
  std::map<std::int32_t, double> waits;  ///< for each training step with too much waiting for CPU
                                         ///< cores, the share of waiting (above kMaxWaitShare)

 private:
  struct Added {
    DeviceAt device;
    std::int32_t step = 0;
    SameLength identical;
    double us = 0;
  };
  std::map<TrackId, DeviceAt> tracks_;
  std::vector<Added> added_;
  MessageTimes times_;
};

std::optional<PartId> part_of(const Cluster& cluster, const DeviceAt& device) {
  if (device.first < 0 || device.first >= cluster.workers()) return std::nullopt;
  const std::vector<Part>& parts = cluster.machine(device.first).parts();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].name == device.second) return PartId{device.first, static_cast<int>(p)};
  }
  return std::nullopt;
}

std::optional<std::vector<Hop>> hops_of(const Cluster& cluster, Staging staging, const Ends& ends) {
  const auto sender = part_of(cluster, ends.first);
  const auto receiver = part_of(cluster, ends.second);
  std::vector<Hop> hops;
  if (!sender || !receiver || !cluster.append_route(*sender, *receiver, staging, hops))
    return std::nullopt;
  return hops;
}

Route route_over(const Cluster& cluster, const std::vector<Hop>& hops) {
  Route route;
  for (const Hop& hop : hops) {
    route.stated += fmt::format("{} {} {} ", static_cast<int>(hop.kind), hop.bandwidth.count(),
                                hop.latency.count());
    Resource resource{{}, hop.bandwidth};
    Outlier& outlier = resource.outlier;
    const bool up = hop.to.part < 0;
    if (up || hop.from.part < 0) {
      const PartId card = up ? hop.from : hop.to;
      outlier = {card.worker, Outlier::What::kCard, cluster.part(card).name, ""};
    } else {
      outlier = {hop.from.worker, Outlier::What::kLink, cluster.part(hop.from).name,
                 cluster.part(hop.to).name};
      if (outlier.other < outlier.part) std::swap(outlier.part, outlier.other);
    }
    route.resources.push_back(std::move(resource));
  }
  return route;
}

/// The interval in which a message used a link.
struct Use {
  Time start, end;
  std::size_t message = 0;
};

/// Returns one entry for each message: true if another message used one of its links at the same
/// time. Messages of the same pack between the same devices are ignored, because they share all
/// links equally.
std::vector<bool> met_others(const Listening& measured,
                             const std::map<Ends, std::vector<Hop>>& hops) {
  std::map<LinkId, std::vector<Use>> uses;
  for (std::size_t m = 0; m < measured.messages.size(); ++m) {
    const auto& [ends, message] = measured.messages[m];
    const auto way = hops.find(ends);
    if (way == hops.end()) continue;
    for (const Hop& hop : way->second) uses[hop.link].push_back({message.start, message.end, m});
  }
  std::vector<bool> met(measured.messages.size(), false);
  for (auto& [link, on] : uses) {
    std::sort(on.begin(), on.end(), [](const Use& a, const Use& b) { return a.start < b.start; });
    for (std::size_t i = 0; i < on.size(); ++i) {
      const auto& [ends, one] = measured.messages[on[i].message];
      for (std::size_t j = i + 1; j < on.size() && on[j].start < on[i].end; ++j) {
        const auto& [other_ends, other] = measured.messages[on[j].message];
        if (ends == other_ends && one.pack == other.pack && one.step == other.step) continue;
        met[on[i].message] = met[on[j].message] = true;
      }
    }
  }
  return met;
}

void join(Samples& all, const Samples& more) {
  for (const auto& [identical, us] : more)
    all[identical].insert(all[identical].end(), us.begin(), us.end());
}

/// True if the longest message is at least 1.5 times as long as the shortest, which a fit needs.
bool tells(const Samples& samples) {
  std::int64_t least = 0, most = 0;
  for (const auto& [identical, us] : samples) {
    least = least == 0 ? identical.second : std::min(least, identical.second);
    most = std::max(most, identical.second);
  }
  return 2 * most >= 3 * least && most > 0;
}

/// Adds the times from one timeline to those from earlier timelines.
void add(const Cluster& cluster, const Scenario& run, bool in_memory, const Listening& one,
         Measurements& measured, std::set<Ends>& crowded) {
  std::map<Ends, std::vector<Hop>> hops;
  for (const auto& [ends, message] : one.messages) {
    if (hops.contains(ends) || (in_memory && ends.first.first == ends.second.first)) continue;
    const auto way = hops_of(cluster, run.plan.collective(run.plan.packs.front()).staging, ends);
    if (!way) continue;
    hops[ends] = *way;
    measured.routes.try_emplace(ends, route_over(cluster, *way));
  }
  const std::vector<bool> met = met_others(one, hops);
  for (std::size_t m = 0; m < one.messages.size(); ++m) {
    const auto& [ends, message] = one.messages[m];
    if (!hops.contains(ends)) continue;
    const SameLength identical{message.kind, message.bytes.count()};
    if (met[m]) {
      crowded.insert(ends);
      continue;
    }
    measured.messages[ends][identical].push_back(message.us);
    measured.ways[ends][identical].push_back(message.way_us);
  }
  for (const auto& [device, samples] : one.additions) {
    const auto part = part_of(cluster, device);
    if (!part || (in_memory && cluster.part(*part).kind == PartKind::kGpu)) continue;
    measured.devices.try_emplace(device,
                                 fmt::format("{}", cluster.part(*part).device.reduce.count()));
    join(measured.additions[device], samples);
  }
  measured.lane_steps = measured.lane_steps || one.lane_steps;
  measured.in_memory = measured.in_memory || in_memory;
  measured.steps += one.steps;
  for (const auto& [step, share] : one.waits) measured.waits.push_back(share);
}

}  // namespace

Expected<Measurements> read_measurements(const Scenario& scenario,
                                         const std::vector<std::string>& timelines,
                                         const Library& library) {
  Measurements measured;
  std::set<Ends> crowded;
  for (const std::string& path : timelines) {
    const auto timeline = TimelineReader::open(path);
    if (!timeline) return tl::make_unexpected(timeline.error());
    const RunInfo& info = timeline->run();
    const auto run = read_scenario(info.scenario_text, info.scenario_file, library);
    if (!run) return tl::make_unexpected(run.error());
    const std::vector<Pack>& packs = run->plan.packs;
    const Staging staging = run->plan.collective(packs.front()).staging;
    if (std::any_of(packs.begin(), packs.end(),
                    [&](const Pack& p) { return run->plan.collective(p).staging != staging; })) {
      measured.staged_differently.push_back(path);
      continue;
    }
    Listening one;
    if (const auto done = timeline->replay(one); !done) return tl::make_unexpected(done.error());
    add(*scenario.cluster, *run, info.devices_in_memory, one, measured, crowded);
  }
  for (const auto& [ends, route] : measured.routes) {
    const auto own = measured.messages.find(ends);
    if (own == measured.messages.end() || !tells(own->second))
      measured.crowded += crowded.contains(ends);
  }
  return measured;
}

}  // namespace tutti::core
