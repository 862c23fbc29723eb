#include "core/nccl/tuner/aws_regions.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace tutti::core::nccl {
namespace {

constexpr double kNear = 1e-10;  // on the logarithmic axes; closer points are on the edge

/// A point or a vector in the plane with logarithmic axes.
struct LogPoint {
  double x = 0, y = 0;
  friend LogPoint operator-(LogPoint a, LogPoint b) { return {a.x - b.x, a.y - b.y}; }
};

LogPoint log_of(RegionPoint point) {
  const auto log = [](double value) { return std::log2(value == 0 ? 1e-6 : value); };
  return {log(point.bytes), log(point.ranks)};
}

double cross_product(LogPoint a, LogPoint b) { return a.x * b.y - a.y * b.x; }

/// True if p is on the edge from a to b, within a tolerance. Edges of length 0 contain no point.
bool is_on_edge(LogPoint p, LogPoint a, LogPoint b) {
  const LogPoint edge = b - a;
  const LogPoint across{edge.y, -edge.x};
  const double square = cross_product(edge, across);
  if (std::abs(square) < kNear) return false;
  // The foot of the perpendicular from p to the edge: 0 means a, and 1 means b.
  const auto at =
      static_cast<long double>(cross_product(p, across) - cross_product(a, across)) / square;
  if (at < -kNear || at > 1 + kNear) return false;
  const double dx = static_cast<double>(a.x + at * edge.x) - p.x,
               dy = static_cast<double>(a.y + at * edge.y) - p.y;
  return std::sqrt(dx * dx + dy * dy) < kNear;
}

/// True if the segment from p to `far` crosses the edge from a to b between its ends.
bool crosses(LogPoint p, LogPoint far, LogPoint a, LogPoint b) {
  const LogPoint ray = far - p, edge = b - a;
  const double d = cross_product(edge, ray);
  if (std::abs(d) < kNear) return false;  // parallel
  const auto on_edge = static_cast<long double>(cross_product(p, ray) - cross_product(a, ray)) / d;
  if (on_edge < kNear || on_edge > 1 - kNear) return false;
  const auto on_ray =
      static_cast<long double>((cross_product(p, edge) - cross_product(a, edge)) / d);
  return on_ray >= 0 && on_ray <= 1;
}

}  // namespace

RegionPoint beyond(RegionPoint a, RegionPoint b) {
  const LogPoint from = log_of(a), to = log_of(b),
                 limit = log_of({kRegionMaxBytes, kRegionMaxRanks});
  LogPoint end;
  if (from.x == to.x) {
    end = {from.x, limit.y};
  } else if (from.y == to.y) {
    end = {limit.x, from.y};
  } else {
    const double slope = (from.y - to.y) / (from.x - to.x);
    const double at_zero = to.y - slope * to.x;
    const double at_limit = slope * limit.x + at_zero;
    end = at_limit < limit.y ? LogPoint{limit.x, at_limit}
                             : LogPoint{(limit.y - at_zero) / slope, limit.y};
  }
  return {std::pow(2.0, end.x), std::pow(2.0, end.y)};
}

bool holds(const Region& region, std::int64_t bytes, int ranks) {
  const LogPoint p = log_of({static_cast<double>(bytes), static_cast<double>(ranks)});
  std::vector<LogPoint> vertices;
  for (const RegionPoint& vertex : region.vertices) vertices.push_back(log_of(vertex));
  const auto next = [&](std::size_t i) { return vertices[(i + 1) % vertices.size()]; };
  for (std::size_t i = 0; i < vertices.size(); ++i) {
    if (is_on_edge(p, vertices[i], next(i))) return true;
  }
  const auto [left, right] = std::minmax_element(vertices.begin(), vertices.end(),
                                                 [](LogPoint a, LogPoint b) { return a.x < b.x; });
  const auto [low, high] = std::minmax_element(vertices.begin(), vertices.end(),
                                               [](LogPoint a, LogPoint b) { return a.y < b.y; });
  if (p.x < left->x || p.x > right->x || p.y < low->y || p.y > high->y) return false;
  // A ray from an inner point to a point outside the region crosses the border an odd number of
  // times.
  const LogPoint far = log_of({2 * kRegionMaxBytes, 2 * kRegionMaxRanks});
  int crossings = 0;
  for (std::size_t i = 0; i < vertices.size(); ++i)
    crossings += crosses(p, far, vertices[i], next(i));
  return crossings % 2 == 1;
}

std::vector<double> borders(const Region& region, int ranks) {
  const double y = std::log2(static_cast<double>(ranks));
  std::vector<double> found;
  for (std::size_t i = 0; i < region.vertices.size(); ++i) {
    const LogPoint a = log_of(region.vertices[i]);
    const LogPoint b = log_of(region.vertices[(i + 1) % region.vertices.size()]);
    if (std::min(a.y, b.y) > y + kNear || std::max(a.y, b.y) < y - kNear) continue;
    if (std::abs(b.y - a.y) < kNear) {
      found.insert(found.end(), {std::pow(2.0, a.x), std::pow(2.0, b.x)});
    } else {
      found.push_back(std::pow(2.0, a.x + (y - a.y) / (b.y - a.y) * (b.x - a.x)));
    }
  }
  return found;
}

}  // namespace tutti::core::nccl
