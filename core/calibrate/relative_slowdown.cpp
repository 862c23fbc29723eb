#include "core/calibrate/relative_slowdown.h"

#include <algorithm>
#include <cmath>

#include "core/base/median.h"
#include "core/calibrate/run_times.h"

namespace tutti::core::slowdown {
namespace {

/// A latency is known only if it is at least this share of the time of the shortest messages.
constexpr double kMinShare = 0.1;

}  // namespace

double low_decile(std::vector<double> us) {
  const std::size_t place = us.size() / 10;
  std::nth_element(us.begin(), us.begin() + place, us.end());
  return us[place];
}

double scatter(const std::vector<double>& us) { return median(us) - low_decile(us); }

double reference_of(std::vector<double> us, ReferenceQuantile reference) {
  const auto place = static_cast<std::size_t>(static_cast<double>(us.size() - 1) * reference);
  std::nth_element(us.begin(), us.begin() + place, us.end());
  return us[place];
}

std::optional<RelativeSlowdown> of(const std::vector<Point>& points) {
  std::vector<double> slopes;
  // Reference times in µs per byte, by kind of step.
  std::map<std::int32_t, std::vector<double>> per_byte;
  for (std::size_t i = 0; i < points.size(); ++i) {
    for (std::size_t j = i + 1; j < points.size(); ++j) {
      const double run = points[j].usual_us - points[i].usual_us;
      const double bytes = points[j].bytes - points[i].bytes;
      if (std::abs(run) * 3 < std::max(points[i].usual_us, points[j].usual_us)) continue;
      slopes.push_back((points[j].own_us - points[i].own_us) / run);
      if (bytes != 0 && points[i].kind == points[j].kind)
        per_byte[points[i].kind].push_back(run / bytes);
    }
  }
  if (slopes.empty()) return std::nullopt;
  RelativeSlowdown slowdown;
  slowdown.slower = median(std::move(slopes));
  const auto longest =
      std::max_element(points.begin(), points.end(),
                       [](const Point& a, const Point& b) { return a.usual_us < b.usual_us; });
  if (std::abs(longest->own_us - longest->usual_us) <= longest->scatter_us) slowdown.slower = 1;
  std::map<std::int32_t, Point> shortest;  // shortest message of each kind of step
  for (const Point& point : points) {
    const auto [known, first] = shortest.try_emplace(point.kind, point);
    if (!first && point.bytes < known->second.bytes) known->second = point;
  }
  for (const auto& [kind, point] : shortest) {
    if (!per_byte.contains(kind)) continue;
    const double moving = median(per_byte.at(kind)) * point.bytes;
    const double reference = point.usual_us - moving;
    const double own = point.own_us - slowdown.slower * moving;
    if (reference < kMinShare * point.usual_us || !(own > 0)) continue;
    if (slowdown.usual_latency_us && *slowdown.usual_latency_us <= reference) continue;
    slowdown.usual_latency_us = reference;
    slowdown.latency_us = own;
    slowdown.scatter_us = point.scatter_us;
  }
  return slowdown;
}

}  // namespace tutti::core::slowdown
