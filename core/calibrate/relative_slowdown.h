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

/// The class within which times are comparable: the kind of step and the number of bytes.
using SameLength = std::pair<std::int32_t, std::int64_t>;
using Samples = std::map<SameLength, std::vector<double>>;  ///< times in µs, by kind of step and
                                                            ///< number of bytes

/// The speed of a route or device relative to others with the same stated parameters.
struct RelativeSlowdown {
  /// The ratio of the time per byte to the reference time per byte. The time per byte and the
  /// reference time per byte exclude the constant time per message. The value is 1 if the times of
  /// the longest messages differ by no more than their scatter.
  double slower = 1;
  /// The constant times per message of this route or device, and of the reference. The latencies
  /// are known only if the constant time is at least a tenth of the time of the shortest messages.
  std::optional<double> latency_us, usual_latency_us;
  /// The scatter of the times of short messages. Differences of latencies that are smaller than
  /// this scatter may be random.
  double scatter_us = 0;

  /// Returns the ratio of the latency to the reference latency; 1 if the difference may be random;
  /// nullopt if the latency is unknown.
  [[nodiscard]] std::optional<double> later() const {
    if (!latency_us) return std::nullopt;
    return std::abs(*latency_us - *usual_latency_us) <= scatter_us
               ? 1
               : *latency_us / *usual_latency_us;
  }
};

/// The quantile of all compared times that serves as the reference: 0 is the fastest, 1 the
/// slowest.
using ReferenceQuantile = double;

/// Returns the relative slowdown of each entry among all entries with the same `stated` value.
/// Entries that are alone in their class, or have too few message lengths, cannot be compared and
/// are missing in the result.
///
/// The time of a message length is the lower decile of its samples. The slowdown is the slope of an
/// entry's times over the reference times (Theil-Sen estimator), so neither latencies nor single
/// extreme times affect it. The estimate needs two lengths whose reference times differ by a factor
/// of at least 1.5. The latency is the time of a message of the shortest length minus the transfer
/// time of its bytes. If there are several kinds of step, the kind with the smallest reference
/// latency is used.
template <class Key>
std::map<Key, RelativeSlowdown> relative_slowdowns(const std::map<Key, Samples>& all,
                                                   const std::map<Key, std::string>& stated,
                                                   ReferenceQuantile reference);

namespace slowdown {

/// The times for one message length, of an entry and of the reference.
struct Point {
  std::int32_t kind = 0;
  double bytes = 0;
  double usual_us = 0;
  double own_us = 0;
  double scatter_us = 0;
};
double low_decile(std::vector<double> us);
/// Returns the difference between the median and the lower decile.
double scatter(const std::vector<double>& us);
double reference_of(std::vector<double> us, ReferenceQuantile reference);
std::optional<RelativeSlowdown> of(const std::vector<Point>& points);

}  // namespace slowdown

template <class Key>
std::map<Key, RelativeSlowdown> relative_slowdowns(const std::map<Key, Samples>& all,
                                                   const std::map<Key, std::string>& stated,
                                                   ReferenceQuantile reference) {
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
           slowdown::reference_of(others, reference), slowdown::low_decile(us),
           std::max(slowdown::scatter(us),
                    slowdown::reference_of(scatters.at({known->second, identical}), 0.5))});
    }
    if (const auto one = slowdown::of(points)) result[key] = *one;
  }
  return result;
}

}  // namespace tutti::core
