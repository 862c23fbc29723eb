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

/// Times that can be held against each other: of steps of one kind on so many bytes.
using SameLength = std::pair<std::int32_t, std::int64_t>;
using Samples = std::map<SameLength, std::vector<double>>;  ///< in microseconds

/// How something stands against others that are stated to be like it.
struct RelativeSlowdown {
  /// How many times as long each byte takes; nothing of what every message takes is in it. 1 if
  /// what is between the longest messages may be chance.
  double slower = 1;
  /// What every message takes besides, of this one and of most others. Known where it is a tenth at
  /// least of what the shortest messages take.
  std::optional<double> latency_us, usual_latency_us;
  /// By how much times of the same short message differ: what is less says nothing of latencies.
  double scatter_us = 0;

  /// How many times the latency of others its own is; 1 if what is between them may be chance.
  [[nodiscard]] std::optional<double> later() const {
    if (!latency_us) return std::nullopt;
    return std::abs(*latency_us - *usual_latency_us) <= scatter_us
               ? 1
               : *latency_us / *usual_latency_us;
  }
};

/// Which of the others is taken for what is usual: 0 the fastest, 1 the slowest.
using Usual = double;

/// Of each whose `stated` says what it is to be like: nothing where fewer than two are, or too few
/// lengths tell. What counts is the lower decile of the times of a length, and their slope over the
/// times that are usual (Theil-Sen), so that neither latencies nor single wild times matter to the
/// rate; two lengths of which one is longer by half are the least. Latencies are what is left of
/// the shortest length's time, of the kind of step of which least is left.
template <class Key>
std::map<Key, RelativeSlowdown> relative_slowdowns(const std::map<Key, Samples>& all,
                                                   const std::map<Key, std::string>& stated,
                                                   Usual usual);

namespace slowdown {

/// A length: what one takes, and what is usual.
struct Point {
  std::int32_t kind = 0;
  double bytes = 0;
  double usual_us = 0;
  double own_us = 0;
  double scatter_us = 0;
};
double low_decile(std::vector<double> us);
/// From the lower decile to the median.
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
