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

/// The kind of step and the number of bytes of a message. Only messages with the same kind of step
/// and the same number of bytes are compared.
using SameLength = std::pair<std::int32_t, std::int64_t>;
using Samples = std::map<SameLength, std::vector<double>>;  ///< times in µs, by kind of step and
                                                            ///< number of bytes

/// The speed of a route or device, compared with others that have the same stated parameters.
struct RelativeSlowdown {
  /// The time per byte divided by the reference time per byte. Both times exclude the constant time
  /// per message. The value is 1 if the times of the longest messages differ from the reference by
  /// no more than their scatter.
  double slower = 1;
  /// The latency (constant time per message) of this route or device, and the reference latency. A
  /// latency is known only if it is at least a tenth of the time of the shortest messages.
  std::optional<double> latency_us, usual_latency_us;
  /// The scatter of the times of short messages. A difference between latencies that is smaller
  /// than the scatter may be random.
  double scatter_us = 0;

  /// Returns the latency divided by the reference latency; 1 if the difference may be random;
  /// nullopt if the latencies are unknown.
  [[nodiscard]] std::optional<double> later() const {
    if (!latency_us) return std::nullopt;
    return std::abs(*latency_us - *usual_latency_us) <= scatter_us
               ? 1
               : *latency_us / *usual_latency_us;
  }
};

/// The quantile of the compared times that is used as the reference: 0 is the fastest, 1 the
/// slowest.
using ReferenceQuantile = double;

/// Returns the relative slowdown of each entry, compared with all entries that have the same
/// `stated` value. Entries whose `stated` value no other entry has, and entries with too few
/// message lengths, are left out of the result.
///
/// For each message length, the lower decile of the samples is used. The slowdown is the slope of
/// an entry's times over the reference times (Theil-Sen estimator), which neither latencies nor
/// single extreme times affect. The estimate needs two message lengths whose reference times differ
/// by a factor of at least 1.5. The latency is the time of the shortest messages minus the transfer
/// time of their bytes. If there are several kinds of step, the kind with the smallest reference
/// latency is used.
template <class Key>
std::map<Key, RelativeSlowdown> relative_slowdowns(const std::map<Key, Samples>& all,
                                                   const std::map<Key, std::string>& stated,
                                                   ReferenceQuantile reference);

namespace slowdown {

/// The time of an entry for one message length, and the reference time for this length.
struct Point {
  std::int32_t kind = 0;
  double bytes = 0;
  double usual_us = 0;
  double own_us = 0;
  double scatter_us = 0;
};
double low_decile(std::vector<double> us);
/// Returns the scatter of times: the difference between the median and the lower decile.
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
