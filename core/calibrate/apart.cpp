#include "core/calibrate/apart.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/calibrate/message_times.h"
#include "core/calibrate/run_times.h"
#include "core/scenario/scenario.h"
#include "core/schedule/step.h"
#include "core/timeline/reader.h"

namespace tutti::core {
namespace {

/// A route or device that takes less than this many times as long as others is like them.
constexpr double kSlow = 1.25;

/// Of times of the same thing.
double low_decile(std::vector<double> us) {
  const std::size_t place = us.size() / 10;
  std::nth_element(us.begin(), us.begin() + static_cast<std::ptrdiff_t>(place), us.end());
  return us[place];
}

/// What is like most of the faster ones.
double low_quartile(std::vector<double> us) {
  const std::size_t place = (us.size() - 1) / 4;
  std::nth_element(us.begin(), us.begin() + static_cast<std::ptrdiff_t>(place), us.end());
  return us[place];
}

using Device = std::pair<std::int32_t, std::string>;  ///< worker and name
/// Times that can be held against each other: of steps of one kind on so many bytes.
using Alike = std::pair<std::int32_t, std::int64_t>;
using Samples = std::map<Alike, std::vector<double>>;

/// Takes down what messages took by who sent and received them, and additions and copies by device.
class Listening : public DeafSink {
 public:
  void track(const Track& track) override { tracks_[track.id] = {track.worker, track.device}; }

  void span(TrackId id, const Span& span) override {
    times_.span(id, span);
    const auto own = tracks_.find(id);
    if (own == tracks_.end() || span.kind != static_cast<std::int32_t>(StepKind::kReduce)) return;
    const double us = to_us(span.duration - span.wait);
    if (us > 0) additions[own->second][{span.kind, span.bytes.count()}].push_back(us);
  }

  void end() override {
    for (const MessageTimes::Message& message : times_.messages()) {
      const auto from = tracks_.find(message.sender);
      const auto to = tracks_.find(message.receiver);
      if (from == tracks_.end() || to == tracks_.end() || from->second == to->second) continue;
      messages[{from->second, to->second}][{message.kind, message.bytes.count()}].push_back(message.us);
    }
  }

  std::map<std::pair<Device, Device>, Samples> messages;
  std::map<Device, Samples> additions;

 private:
  std::map<TrackId, Device> tracks_;
  MessageTimes times_;
};

/// How much slower each of them is than those that are stated to be alike; nothing where too few lengths tell.
template <class Key>
std::map<Key, double> slownesses(const std::map<Key, Samples>& all, const std::map<Key, std::string>& stated) {
  std::map<std::pair<std::string, Alike>, std::vector<double>> of_class;
  for (const auto& [key, samples] : all) {
    const auto known = stated.find(key);
    if (known == stated.end()) continue;
    for (const auto& [alike, us] : samples) of_class[{known->second, alike}].push_back(low_decile(us));
  }
  std::map<Key, double> slownesses;
  for (const auto& [key, samples] : all) {
    const auto known = stated.find(key);
    if (known == stated.end()) continue;
    std::vector<std::pair<double, double>> points;  // what others take, and what this one does
    for (const auto& [alike, us] : samples) {
      const std::vector<double>& others = of_class.at({known->second, alike});
      if (others.size() >= 2) points.emplace_back(low_quartile(others), low_decile(us));
    }
    std::vector<double> slopes;
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (std::size_t j = i + 1; j < points.size(); ++j) {
        const double run = points[j].first - points[i].first;
        if (std::abs(run) * 3 < std::max(points[i].first, points[j].first)) continue;
        slopes.push_back((points[j].second - points[i].second) / run);
      }
    }
    if (!slopes.empty()) slownesses[key] = median(std::move(slopes));
  }
  return slownesses;
}

/// What a message meets on its way that another one may meet too, and how wide it is stated to be.
struct Resource {
  Apart apart;
  Bandwidth stated;
  bool operator<(const Resource& other) const { return apart < other.apart; }
};

struct Route {
  std::vector<Resource> resources;
  std::string stated;  ///< kinds and rates
};

std::optional<PartId> part_of(const Cluster& cluster, const Device& device) {
  if (device.first < 0 || device.first >= cluster.workers()) return std::nullopt;
  const std::vector<Part>& parts = cluster.machine(device.first).parts();
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if (parts[p].name == device.second) return PartId{device.first, static_cast<int>(p)};
  }
  return std::nullopt;
}

std::optional<Route> route_of(const Cluster& cluster, Staging staging, const Device& from, const Device& to) {
  const auto sender = part_of(cluster, from);
  const auto receiver = part_of(cluster, to);
  std::vector<Hop> hops;
  if (!sender || !receiver || !cluster.append_route(*sender, *receiver, staging, hops)) return std::nullopt;
  Route route;
  for (const Hop& hop : hops) {
    route.stated += fmt::format("{} {} ", static_cast<int>(hop.kind), hop.bandwidth.count());
    Resource resource{{}, hop.bandwidth};
    Apart& apart = resource.apart;
    const bool up = hop.to.part < 0;
    if (up || hop.from.part < 0) {
      const PartId card = up ? hop.from : hop.to;
      apart = {card.worker, Apart::What::kCard, cluster.part(card).name, ""};
    } else {
      apart = {hop.from.worker, Apart::What::kLink, cluster.part(hop.from).name, cluster.part(hop.to).name};
      if (apart.other < apart.part) std::swap(apart.part, apart.other);
    }
    route.resources.push_back(std::move(resource));
  }
  return route;
}

/// The least links whose slowness makes all slow routes slow.
void blame(const std::map<std::pair<Device, Device>, Route>& routes,
           const std::map<std::pair<Device, Device>, double>& slownesses, Apartness& result) {
  std::set<Apart> innocent;
  std::vector<std::pair<const Route*, double>> slow;
  for (const auto& [ends, slowness] : slownesses) {
    const Route& route = routes.at(ends);
    if (slowness >= kSlow) {
      slow.emplace_back(&route, slowness);
    } else {
      for (const Resource& resource : route.resources) innocent.insert(resource.apart);
    }
  }
  while (!slow.empty()) {
    std::map<Resource, std::vector<double>> suspects;
    for (const auto& [route, slowness] : slow) {
      for (const Resource& resource : route->resources) {
        if (!innocent.contains(resource.apart)) suspects[resource].push_back(slowness);
      }
    }
    if (suspects.empty()) {
      result.notes.push_back(fmt::format(
          "{} routes are slower than others although each of their links is fast on another route", slow.size()));
      return;
    }
    const auto worst = std::max_element(suspects.begin(), suspects.end(), [](const auto& a, const auto& b) {
      if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
      return a.first.stated > b.first.stated;
    });
    Apart found = worst->first.apart;
    std::erase_if(slow, [&](const auto& route) {
      return std::any_of(route.first->resources.begin(), route.first->resources.end(),
                         [&](const Resource& resource) { return resource.apart == worst->first.apart; });
    });
    found.slower = median(worst->second);
    result.list.push_back(std::move(found));
  }
}

}  // namespace

std::string Apart::name() const {
  if (what == What::kLink) return fmt::format("w{0}/{1}-w{0}/{2}", worker, part, other);
  return fmt::format("w{}/{}", worker, part);
}

Expected<Apartness> find_apart(const Scenario& scenario, const std::vector<std::string>& timelines,
                               const Library& library) {
  const Cluster& cluster = *scenario.cluster;
  Apartness result;
  Listening all;
  std::map<std::pair<Device, Device>, Route> routes;
  std::map<Device, std::string> devices;
  for (const std::string& path : timelines) {
    const auto timeline = TimelineReader::open(path);
    if (!timeline) return tl::make_unexpected(timeline.error());
    const RunInfo& info = timeline->run();
    const auto run = read_scenario(info.scenario_text, info.scenario_file, library);
    if (!run) return tl::make_unexpected(run.error());
    Listening one;
    if (const auto done = timeline->replay(one); !done) return tl::make_unexpected(done.error());
    for (const auto& [ends, samples] : one.messages) {
      const auto route = route_of(cluster, run->strategy.staging, ends.first, ends.second);
      if (!route) continue;
      routes.try_emplace(ends, *route);
      for (const auto& [alike, us] : samples) {
        auto& joined = all.messages[ends][alike];
        joined.insert(joined.end(), us.begin(), us.end());
      }
    }
    for (const auto& [device, samples] : one.additions) {
      const auto part = part_of(cluster, device);
      if (!part) continue;
      devices.try_emplace(device, fmt::format("{}", cluster.part(*part).device.reduce.count()));
      for (const auto& [alike, us] : samples) {
        auto& joined = all.additions[device][alike];
        joined.insert(joined.end(), us.begin(), us.end());
      }
    }
  }
  std::map<std::pair<Device, Device>, std::string> stated;
  for (const auto& [ends, route] : routes) stated[ends] = route.stated;
  const auto slow_routes = slownesses(all.messages, stated);
  blame(routes, slow_routes, result);
  for (const auto& [device, slowness] : slownesses(all.additions, devices)) {
    if (slowness >= kSlow) result.list.push_back({device.first, Apart::What::kDevice, device.second, "", slowness});
  }
  if (!slow_routes.empty()) {
    result.notes.push_back(fmt::format(
        "messages of {} of {} pairs of devices were held against each other; {}", slow_routes.size(), routes.size(),
        result.list.empty() ? "no link or device stands out, so each kind has one figure"
                            : "what stands out has figures of its own, and each kind has one for all others"));
  }
  return result;
}

}  // namespace tutti::core
