// Finds the links that cause some routes between devices to be slower or faster than similar
// routes. For slow routes, the algorithm is a greedy set cover. A link that is also on a normal
// route cannot be the cause. Among the remaining links, the one on the most slow routes is reported
// as an outlier, and all routes over it are removed. The search for such links is repeated until no
// slow route is left, or no remaining link explains one. Fast routes need another rule. The link
// with the lowest bandwidth limits a route, so if a route is fast, all its links with low stated
// bandwidths must be fast.
//
// If many similar links have different speeds, it is not known which speed is normal. Therefore the
// whole search is done with three quantiles of the speeds as the normal speed, and the result with
// the fewest outliers and notes is used. routes.cpp provides the times, and relative_slowdown.h
// compares similar routes.

#include "core/calibrate/outliers.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/median.h"
#include "core/calibrate/routes.h"
#include "core/calibrate/run_times.h"

namespace tutti::core {
namespace {

/// Relative slowdowns between 1 / kFar and kFar count as normal.
constexpr double kFar = 1.25;
/// The quantiles that are tried as the normal speed: quantiles of the times of similar routes or
/// devices, the fastest first.
constexpr ReferenceQuantile kReferenceQuantiles[] = {0.25, 0.5, 0.75};

using Figure = Outlier::Figure;

/// A route that is slower or faster than similar routes, and its relative slowdown.
struct Odd {
  const Route* route;
  double factor;
  double late_us = 0;
};

bool operator==(const Odd& a, const Odd& b) { return a.route == b.route; }

bool crosses(const Route& route, const Outlier& link) {
  return std::any_of(route.resources.begin(), route.resources.end(),
                     [&link](const Resource& resource) { return resource.outlier == link; });
}

/// Finds the links that explain deviating routes. `figure` determines whether rates or latencies
/// are examined.
class Blame {
 public:
  Blame(Figure figure, Outliers& result) : figure_(figure), result_(result) {}

  /// Adds links as outliers until they explain all routes in `odd`. Takes the link on the most
  /// routes first, to add few links. Links that are also on a normal route (`like`) are excluded.
  void explain(std::vector<Odd> odd, const std::vector<const Route*>& like) {
    std::set<Outlier> innocent;
    for (const Route* route : like) {
      for (const Resource& resource : route->resources) innocent.insert(resource.outlier);
    }
    while (!odd.empty()) {
      std::map<Resource, std::vector<Odd>> suspects;
      for (const Odd& one : odd) {
        for (const Resource& resource : one.route->resources) {
          const bool may =
              figure_ == Figure::kRate || resource.outlier.what == Outlier::What::kLink;
          if (may && !innocent.contains(resource.outlier)) suspects[resource].push_back(one);
        }
      }
      if (suspects.empty()) return unexplained(odd);
      const auto worst =
          std::max_element(suspects.begin(), suspects.end(), [](const auto& a, const auto& b) {
            if (a.second.size() != b.second.size()) return a.second.size() < b.second.size();
            return a.first.stated > b.first.stated;
          });
      say_who_else(suspects, *worst);
      std::vector<double> factors, late_us;
      for (const Odd& one : worst->second) {
        factors.push_back(one.factor);
        late_us.push_back(one.late_us);
      }
      const Outlier link = worst->first.outlier;
      found(link, median(factors), median(late_us));
      std::erase_if(odd, [&link](const Odd& one) { return crosses(*one.route, link); });
    }
  }

  /// For each fast route, adds all links whose stated bandwidth is below the route's measured rate,
  /// because these links must be fast.
  void add_narrow_links(const std::vector<Odd>& fast) {
    std::map<Outlier, double> links;
    for (const Odd& one : fast) {
      Bandwidth narrowest = one.route->resources.front().stated;
      for (const Resource& resource : one.route->resources)
        narrowest = std::min(narrowest, resource.stated);
      for (const Resource& resource : one.route->resources) {
        const double wider =
            static_cast<double>(resource.stated.count()) / static_cast<double>(narrowest.count());
        // Skip links whose stated bandwidth suffices for the measured rate.
        if (wider * one.factor * kFar > 1) continue;
        const auto known = links.try_emplace(resource.outlier, wider * one.factor).first;
        known->second = std::min(known->second, wider * one.factor);
      }
    }
    for (const auto& [link, factor] : links) found(link, factor);
  }

 private:
  void found(Outlier link, double factor, double late_us = 0) {
    link.figure = figure_;
    link.slower = factor;
    link.late_us = late_us;
    result_.list.push_back(std::move(link));
  }

  void unexplained(const std::vector<Odd>& odd) {
    result_.notes.push_back(fmt::format(
        "messages on {} routes {}, but no single link is the cause, because each link of these "
        "routes also belongs to a route with normal times",
        odd.size(),
        figure_ == Figure::kRate ? "are slower than messages on similar routes"
                                 : "have a different latency than messages on similar routes"));
  }

  void say_who_else(const std::map<Resource, std::vector<Odd>>& suspects,
                    const std::pair<const Resource, std::vector<Odd>>& taken) {
    std::vector<std::string> others;
    for (const auto& [resource, routes] : suspects) {
      if (!(resource.outlier == taken.first.outlier) && routes == taken.second)
        others.push_back(resource.outlier.name());
    }
    if (others.empty()) return;
    result_.notes.push_back(
        fmt::format("{} has a different {} than similar links or devices, but the cause may also "
                    "be {}, because every measured message uses all of these parts",
                    taken.first.outlier.name(), figure_ == Figure::kRate ? "rate" : "latency",
                    fmt::join(others, ", ")));
  }

  Figure figure_;
  Outliers& result_;
};

/// Returns all outliers, if the quantile `usual` of the times is taken as the normal speed.
Outliers judge(const Measurements& measured, ReferenceQuantile usual) {
  std::map<Ends, std::string> stated;
  for (const auto& [ends, route] : measured.routes) stated[ends] = route.stated;
  std::vector<Odd> slow, fast, late, early;
  std::vector<const Route*> not_slow, in_time;
  for (const auto& [ends, slowdown] : relative_slowdowns(measured.messages, stated, usual)) {
    const Route* const route = &measured.routes.at(ends);
    if (slowdown.slower >= kFar) {
      slow.push_back({route, slowdown.slower});
    } else {
      not_slow.push_back(route);
      if (slowdown.slower * kFar <= 1) fast.push_back({route, slowdown.slower});
    }
  }
  for (const auto& [ends, slowdown] : relative_slowdowns(measured.ways, stated, usual)) {
    const Route* const route = &measured.routes.at(ends);
    const std::optional<double> later = slowdown.later();
    if (!later) continue;
    const double late_us = *slowdown.latency_us - *slowdown.usual_latency_us;
    if (const double factor = *later; factor >= kFar) {
      late.push_back({route, factor, late_us});
    } else if (factor * kFar <= 1) {
      early.push_back({route, factor, late_us});
    } else {
      in_time.push_back(route);
    }
  }
  Outliers result;
  Blame rates(Figure::kRate, result), latencies(Figure::kLatency, result);
  rates.explain(std::move(slow), not_slow);
  rates.add_narrow_links(fast);
  latencies.explain(std::move(late), in_time);
  latencies.explain(std::move(early), in_time);
  for (const auto& [device, slowdown] :
       relative_slowdowns(measured.additions, measured.devices, usual)) {
    if (slowdown.slower >= kFar || slowdown.slower * kFar <= 1)
      result.list.push_back({device.first, Outlier::What::kDevice, device.second, "", Figure::kRate,
                             slowdown.slower});
  }
  return result;
}

/// Returns the entries of `compared` in whose class the routes do not all cross the same links. A
/// class consists of the routes with the same text Route::stated. Only in such a class can a link
/// be identified as an outlier.
std::vector<const RelativeSlowdown*> outliers_reported(
    const Measurements& measured, const std::map<Ends, RelativeSlowdown>& compared) {
  // The sets of links that routes cross, by class.
  std::map<std::string, std::set<std::set<Outlier>>> ways;
  const auto way_of = [](const Route& route) {
    std::set<Outlier> way;
    for (const Resource& resource : route.resources) way.insert(resource.outlier);
    return way;
  };
  for (const auto& [ends, slowdown] : compared)
    ways[measured.routes.at(ends).stated].insert(way_of(measured.routes.at(ends)));
  std::vector<const RelativeSlowdown*> outliers;
  for (const auto& [ends, slowdown] : compared) {
    if (ways.at(measured.routes.at(ends).stated).size() > 1) outliers.push_back(&slowdown);
  }
  return outliers;
}

/// Returns notes on messages that were ignored because workers had waited for CPU cores.
std::vector<std::string> notes_of_cores(const Measurements& measured) {
  std::vector<std::string> notes;
  if (!measured.waits.empty()) {
    const double usual = median(measured.waits);
    const std::string without = usual > 0.9 ? "many" : fmt::format("up to {:.2g}", 1 / (1 - usual));
    notes.push_back(fmt::format(
        "in {} of {} steps, workers waited for a CPU core. In the median of these steps, the "
        "longest wait of a worker was {:.0f} % of the time in which packs were in flight. The "
        "measured times include these waits: on idle machines, rates may be {} times as high, and "
        "latencies lower by the same factor. These steps were not used to find outliers. Run fewer "
        "workers per machine, or fewer other programs",
        measured.waits.size(), measured.steps, 100 * usual, without));
  }
  if (measured.in_memory)
    notes.emplace_back(
        "devices were emulated in host memory (no --backend cuda or nccl), where one thread copies "
        "for all links of a worker; these links share one fitted rate and were not checked for "
        "outliers");
  return notes;
}

/// Returns notes on how many messages were compared, and on messages that could not be compared.
std::vector<std::string> notes_of(const Measurements& measured, bool found) {
  if (!measured.lane_steps)
    return {
        "no outliers were searched for, because no timeline has schedule steps (--record steps); "
        "all links and devices of a kind share one parameter"};
  std::map<Ends, std::string> stated;
  for (const auto& [ends, route] : measured.routes) stated[ends] = route.stated;
  const auto compared = relative_slowdowns(measured.messages, stated, kReferenceQuantiles[0]);
  const std::vector<const RelativeSlowdown*> outliers = outliers_reported(measured, compared);
  std::vector<std::string> notes;
  if (outliers.empty()) {
    notes.emplace_back(
        "no outliers were searched for, because no two routes over the same kinds of links could "
        "be compared. For a comparison, a sender must send messages of at least two sizes, and "
        "there must be at least three devices (for network links: three workers). All links of a "
        "kind share one parameter");
  } else {
    const auto ways = relative_slowdowns(measured.ways, stated, kReferenceQuantiles[0]);
    const std::vector<const RelativeSlowdown*> timed = outliers_reported(measured, ways);
    const auto latencies =
        std::count_if(timed.begin(), timed.end(),
                      [](const RelativeSlowdown* each) { return each->latency_us.has_value(); });
    notes.push_back(fmt::format(
        "to find outliers, the messages between {} of {} pairs of devices were compared, and for "
        "{} of these pairs also the latency; {}",
        outliers.size(), measured.routes.size(), latencies,
        found ? "outliers have their own parameters, and all other links or devices of a kind "
                "share one parameter"
              : "there are no outliers, so all links and devices of a kind share one parameter"));
    if (latencies == 0)
      notes.emplace_back(
          "latencies of single links could not be estimated: even the shortest messages are "
          "dominated by their transfer time");
  }
  if (measured.crowded > 0)
    notes.push_back(
        fmt::format("between {} pairs of devices, too few messages could be used to find outliers, "
                    "because most messages shared links with other messages; to share links less, "
                    "use the algorithm ring, or launch packs one after the other (launch: SERIAL)",
                    measured.crowded));
  return notes;
}

}  // namespace

std::string Outlier::name() const {
  if (what == What::kLink) return fmt::format("w{0}/{1}-w{0}/{2}", worker, part, other);
  return fmt::format("w{}/{}", worker, part);
}

Expected<Outliers> find_outliers(const Scenario& scenario,
                                 const std::vector<std::string>& timelines,
                                 const Library& library) {
  if (timelines.empty()) return Outliers{};
  const auto measured = read_measurements(scenario, timelines, library);
  if (!measured) return tl::make_unexpected(measured.error());
  Outliers least;
  for (const ReferenceQuantile usual : kReferenceQuantiles) {
    Outliers one = judge(*measured, usual);
    // Notes count like outliers, because each of them describes routes that no single link
    // explains, or links that cannot be distinguished.
    if (usual == kReferenceQuantiles[0] ||
        one.list.size() + one.notes.size() < least.list.size() + least.notes.size())
      least = std::move(one);
  }
  for (const std::vector<std::string>& notes :
       {notes_of_cores(*measured), notes_of(*measured, !least.list.empty())})
    least.notes.insert(least.notes.end(), notes.begin(), notes.end());
  for (const std::string& path : measured->staged_differently)
    least.notes.push_back(
        fmt::format("{}: outliers among links of one kind cannot be found, because only some packs "
                    "are staged through host memory",
                    path));
  return least;
}

}  // namespace tutti::core
