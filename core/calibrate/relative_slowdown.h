#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tutti::core {

/// The key of comparable times: the kind of step and the number of bytes.
using SameLength = std::pair<std::int32_t, std::int64_t>;
using Samples = std::map<SameLength, std::vector<double>>;  ///< times in microseconds

/// The relation of a link or device to others with the same stated parameters.
struct RelativeSlowdown {
  /// The factor on the time per byte, without the constant time per message. 1 if the difference of
  /// the longest messages may be random.
  double slower = 1;
  /// The constant time per message, of this one and of most others. Known if it is at least a tenth
  /// of the time of the shortest messages.
  std::optional<double> latency_us, usual_latency_us;
  /// The scatter of the times of one short message; smaller latencies cannot be determined.
  double scatter_us = 0;

  /// Returns the ratio of its latency to that of others; 1 if the difference may be random.
  [[nodiscard]] std::optional<double> later() const {
    if (!latency_us) return std::nullopt;
    return std::abs(*latency_us - *usual_latency_us) <= scatter_us
               ? 1
               : *latency_us / *usual_latency_us;
  }
};

/// The quantile of the others that is the reference: 0 is the fastest, 1 the slowest.
using Usual = double;

/// Returns the relative slowdown of each, among those with the same `stated` value; entries without
/// a second one of their class, or with too few message lengths, are missing. The time of a length
/// is its lower decile, and the rate is the slope over the reference times (Theil-Sen), so that
/// latencies and single extreme times do not affect it; at least two lengths that differ by half
/// are needed. The latency is the remaining time of the shortest length, for the kind of step with
/// the smallest remainder.
template <class Key>
std::map<Key, RelativeSlowdown> relative_slowdowns(const std::map<Key, Samples>& all,
                                                   const std::map<Key, std::string>& stated,
                                                   Usual usual);

namespace slowdown {

/// One message length: its own time, and the reference time.
struct Point {
  std::int32_t kind = 0;
  double bytes = 0;
  double usual_us = 0;
  double own_us = 0;
  double scatter_us = 0;
};
double low_decile(std::vector<double> us);
/// Returns the difference between median and lower decile.
double scatter(const std::vector<double>& us);
double usual_of(std::vector<double> us, Usual usual);
std::optional<RelativeSlowdown> of(const std::vector<Point>& points);

}  // namespace slowdown

template <class Key>
std::map<Key, RelativeSlowdown> relative_slowdowns(const std::map<Key, Samples>& all,
                                                   const std::map<Key, std::string>& stated,
                                                   Usual usual) {
  std::map<std::pair<std::string, SameLength>, std::vector<double>> of_class, scatters;
  for (const auto& [key, samples] : all) {
    const auto known = stated.find(key);
    if (known == stated.end()) continue;
    for (const auto& [identical, us] : samples) {
      of_class[{known->second, identical}].push_back(slowdown::low_decile(us));
      scatters[{known->second, identical}].push_back(slowdown::scatter(us));
    }
  }
  std::map<Key, RelativeSlowdown> result;
  for (const auto& [key, samples] : all) {
    const auto known = stated.find(key);
    if (known == stated.end()) continue;
    std::vector<slowdown::Point> points;
    for (const auto& [identical, us] : samples) {
      const std::vector<double>& others = of_class.at({known->second, identical});
      if (others.size() < 2) continue;
      points.push_back(
          {identical.first, static_cast<double>(identical.second),
           slowdown::usual_of(others, usual), slowdown::low_decile(us),
           std::max(slowdown::scatter(us),
                    slowdown::usual_of(scatters.at({known->second, identical}), 0.5))});
    }
    if (const auto one = slowdown::of(points)) result[key] = *one;
  }
  return result;
}

}  // namespace tutti::core
