// Bayesian optimization over a grid of settings, with expected improvement as the criterion. A
// Latin hypercube of at most 64 points starts the search. After the hypercube, points are chosen in
// batches of four. When a point of a batch is chosen, the previous points of the batch are assumed
// to have exactly their predicted costs, so that the points do not cluster. When the model predicts
// no noticeable improvement for any candidate, the neighbours of the best point along every axis
// are evaluated. Then random points are evaluated, because the model may be wrong in regions
// without evaluated points. The search ends after six batches of random points without improvement.
// If the space has more than 6000 points, the candidates are 6000 random points. The model is in
// kriging.cpp, and the caller runs the points. SOURCE: Jones, Schonlau, Welch, "Efficient global
// optimization of expensive black-box functions", J. Global Optimization 1998.

#include "core/explore/tuner.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "core/base/number.h"
#include "core/explore/kriging.h"

namespace tutti::core {
namespace {

/// The number of points that next() returns in one call.
constexpr std::size_t kBatch = 4;
/// The maximum number of candidate points; in larger spaces, this many points are drawn at random.
constexpr std::int64_t kMaxCandidates = 6000;
/// The initial Latin hypercube uses at most this share of all evaluations.
constexpr double kDesignShare = 0.3;
/// Before the search ends, gaps without evaluated points along an ordered axis are filled until
/// they are shorter than this share of the axis. All other axes have the values of the best point.
constexpr double kGap = 0.06;
/// The maximum number of values of an unordered axis that are tried while all other axes have the
/// values of the best point.
constexpr std::size_t kMaxOthers = 64;
/// The search ends after this number of batches of random points without improvement.
constexpr int kChecks = 6;

/// Returns the values of an axis as numbers. Returns nullopt if some values are not numbers, there
/// are fewer than three, or the axis has several fields.
std::optional<std::vector<double>> numbers_of(const Axis& axis) {
  constexpr std::size_t kFewest = 3;
  if (axis.fields.size() != 1 || axis.rows.size() < kFewest) return std::nullopt;
  std::vector<double> values;
  for (const auto& row : axis.rows) {
    const auto value = number_of(row.front());
    if (!value) return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

}  // namespace

Tuner::Tuner(const Space& space, const TunerOptions& options)
    : space_(space), options_(options), random_(options.seed) {
  for (std::size_t a = 0; a < space.axes().size(); ++a) {
    const Axis& axis = space.axes()[a];
    const std::size_t count = axis.rows.size();
    const bool some = a < options.rows.size() && !options.rows[a].empty();
    std::vector<bool> asks(count, !some);
    if (some) {
      for (const std::int64_t row : options.rows[a]) asks[row] = true;
    }
    std::vector<double> places(count);
    std::vector<std::int64_t> order(count);
    std::iota(order.begin(), order.end(), std::int64_t{0});
    const auto numbers = numbers_of(axis);
    ordered_.push_back(numbers.has_value());
    if (numbers) {
      const auto value = [&](std::int64_t row) { return (*numbers)[row]; };
      std::stable_sort(order.begin(), order.end(), [&](std::int64_t one, std::int64_t other) {
        return value(one) < value(other);
      });
      // The coordinate of a value is its rank in the sorted values. The rank is better than the
      // value itself, because users choose values more densely where the cost depends strongly on
      // them.
      for (std::size_t r = 0; r < count; ++r)
        places[order[r]] = static_cast<double>(r) / static_cast<double>(count - 1);
    } else {
      for (std::size_t r = 0; r < count; ++r) places[r] = static_cast<double>(r);
    }
    places_.push_back(std::move(places));
    std::erase_if(order, [&](std::int64_t row) { return !asks[row]; });
    size_ *= std::ssize(order);
    ranks_.push_back(std::move(order));
    allowed_.push_back(std::move(asks));
  }
}

bool Tuner::is_new(std::int64_t point) const {
  if (costs_.contains(point)) return false;
  const std::vector<std::int64_t> rows = space_.rows(point);
  for (std::size_t a = 0; a < rows.size(); ++a) {
    if (!allowed_[a][rows[a]]) return false;
  }
  return true;
}

std::vector<double> Tuner::place(std::int64_t point) const {
  const std::vector<std::int64_t> rows = space_.rows(point);
  Kriging::Point place;
  for (std::size_t a = 0; a < rows.size(); ++a) place.push_back(places_[a][rows[a]]);
  return place;
}

/// Returns the points of a Latin hypercube: all values of an axis occur equally often, and the
/// values of different axes are combined at random.
std::vector<std::int64_t> Tuner::design() {
  const auto wanted = static_cast<std::size_t>(
      std::clamp<double>(kDesignShare * static_cast<double>(options_.evaluations), 8, 64));
  std::vector<std::vector<std::int64_t>> columns;
  for (const auto& order : ranks_) {
    const std::size_t count = order.size();
    std::vector<std::int64_t> column;
    for (std::size_t i = 0; i < wanted; ++i) column.push_back(order[i * count / wanted]);
    if (count > 1 && count <= wanted) column.back() = order.back();
    for (std::size_t i = wanted; i > 1; --i) std::swap(column[i - 1], column[random_.below(i)]);
    columns.push_back(std::move(column));
  }
  std::set<std::int64_t> points;
  for (std::size_t i = 0; i < wanted; ++i) {
    std::vector<std::int64_t> rows;
    for (const auto& column : columns) rows.push_back(column[i]);
    points.insert(space_.point(rows));
  }
  return {points.begin(), points.end()};
}

/// Returns untried points that differ from the best point along one axis only: the neighbours of
/// the best value, all values of an unordered axis, and the middle of an ordered axis's widest gap,
/// if the gap is wide. The model alone would miss such points: it is smooth, but the cost may jump,
/// for example at the size at which NCCL changes its protocol.
std::vector<std::int64_t> Tuner::along_axes() const {
  std::vector<std::int64_t> points;
  if (!best_) return points;
  const std::vector<std::int64_t> rows = space_.rows(*best_);
  for (std::size_t a = 0; a < rows.size(); ++a) {
    const auto& order = ranks_[a];
    std::vector<std::int64_t> other = rows;
    const auto point_at = [&](std::size_t rank) {
      other[a] = order[rank];
      return space_.point(other);
    };
    if (!ordered_[a]) {
      for (std::size_t r = 0; r < order.size() && r < kMaxOthers; ++r)
        points.push_back(point_at(r));
      continue;
    }
    const auto best =
        static_cast<std::size_t>(std::find(order.begin(), order.end(), rows[a]) - order.begin());
    if (best > 0) points.push_back(point_at(best - 1));
    if (best + 1 < order.size()) points.push_back(point_at(best + 1));
    // A gap at an end of the axis counts twice, because it has an evaluated point on only one side.
    std::size_t widest = std::max<std::size_t>(
        2, static_cast<std::size_t>(kGap * static_cast<double>(order.size())));
    std::optional<std::size_t> middle;
    std::size_t last = 0;
    bool any = false;
    for (std::size_t r = 0; r <= order.size(); ++r) {
      const bool end = r == order.size();
      if (!end && !costs_.contains(point_at(r))) continue;
      const std::size_t gap = any && !end ? r - last : 2 * (any ? r - 1 - last : r);
      if (gap > widest) {
        widest = gap;
        middle = !any ? 0 : end ? r - 1 : (last + r) / 2;
      }
      last = r;
      any = true;
    }
    if (middle) points.push_back(point_at(*middle));
  }
  std::erase_if(points, [&](std::int64_t point) { return costs_.contains(point); });
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

std::int64_t Tuner::random_point() {
  auto index = static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(size_)));
  std::vector<std::int64_t> rows(allowed_.size());
  for (std::size_t a = allowed_.size(); a-- > 0;) {
    // Choose row `index % count`, counted from 0, of the rows of this axis that may be evaluated.
    const std::int64_t count = std::ssize(ranks_[a]);
    std::int64_t before = index % count;
    index /= count;
    while (!allowed_[a][rows[a]] || before-- > 0) ++rows[a];
  }
  return space_.point(rows);
}

std::vector<std::int64_t> Tuner::candidates() {
  std::vector<std::int64_t> points;
  if (space_.size() <= kMaxCandidates) {
    for (std::int64_t p = 0; p < space_.size(); ++p) {
      if (is_new(p)) points.push_back(p);
    }
    return points;
  }
  std::set<std::int64_t> some;
  for (std::int64_t i = 0; i < kMaxCandidates; ++i) some.insert(random_point());
  // Add the points that differ from the best point along one axis only.
  const std::vector<std::int64_t> rows = space_.rows(*best_);
  for (std::size_t a = 0; a < rows.size(); ++a) {
    std::vector<std::int64_t> other = rows;
    for (std::int64_t r = 0; r < std::ssize(places_[a]) && r < 200; ++r)
      other[a] = r, some.insert(space_.point(other));
  }
  for (const std::int64_t point : some) {
    if (is_new(point)) points.push_back(point);
  }
  return points;
}

std::vector<std::int64_t> Tuner::promising() {
  std::vector<Kriging::Point> places;
  std::vector<double> values;
  double worst = -std::numeric_limits<double>::infinity();
  for (const auto& [point, cost] : costs_) {
    if (cost) worst = std::max(worst, std::log(*cost));
  }
  for (const auto& [point, cost] : costs_) {
    places.push_back(place(point));
    values.push_back(cost ? std::log(*cost)
                          : worst);  // an invalid point is as bad as the worst valid one
  }
  // Reduce costs that are more than twice the best cost, because their exact values are irrelevant
  // and would distort the model.
  const double least = std::log(*costs_.at(*best_));
  for (double& value : values)
    value = std::min(value, least + std::log(2.0) + 0.2 * (value - least - std::log(2.0)));
  Kriging kriging(ordered_);
  kriging.fit(places, values);

  const std::vector<std::int64_t> all = candidates();
  std::vector<Kriging::Point> where;
  for (const std::int64_t point : all) where.push_back(place(point));
  std::vector<std::int64_t> chosen;
  std::set<std::size_t> taken;
  while (chosen.size() < kBatch && taken.size() < all.size()) {
    double most = -1;
    std::size_t at = 0;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (taken.contains(i)) continue;
      const double gain = kriging.expected_improvement(where[i], least);
      if (gain > most) most = gain, at = i;
    }
    if (chosen.empty())
      max_expected_improvement_ =
          std::clamp(1 - std::exp(-most), 0.0, 1 - options_.least / *costs_.at(*best_));
    taken.insert(at);
    chosen.push_back(all[at]);
    // For the remaining points of the batch, assume that this point has its expected cost.
    if (chosen.size() < kBatch) kriging.add(where[at], kriging.at(where[at]).mean);
  }
  return chosen;
}

/// Returns some points that have not been requested yet.
std::vector<std::int64_t> Tuner::anywhere() {
  std::vector<std::int64_t> points;
  for (std::size_t tries = 0; tries < 1000 && points.size() < kBatch; ++tries) {
    const std::int64_t point = random_point();
    if (is_new(point) && std::find(points.begin(), points.end(), point) == points.end())
      points.push_back(point);
  }
  return points;
}

std::vector<std::int64_t> Tuner::next() {
  const std::int64_t left = options_.evaluations - evaluated();
  if (over_ || left <= 0 || evaluated() >= size_) return {};
  const auto first = [&](std::vector<std::int64_t> points) {
    if (std::ssize(points) > left) points.resize(left);
    return points;
  };
  if (!designed_) {
    designed_ = true;
    return first(design());
  }
  if (evaluated() < 2 || !best_) {
    return first(anywhere());  // no point of the design is valid
  }
  max_expected_improvement_ = 1 - options_.least / *costs_.at(*best_);
  if (max_expected_improvement_ < options_.enough) return over_ = true, std::vector<std::int64_t>();
  std::vector<std::int64_t> points = promising();
  if (max_expected_improvement_ >= options_.enough) return first(points);
  // The model predicts no improvement for any candidate. First check that the best point is the
  // best one along every axis. Then try random points, because the model may be wrong in regions
  // without evaluated points. The costs of random points improve the model.
  std::vector<std::int64_t> around = along_axes();
  if (around.empty() && checks_++ < kChecks) around = anywhere();
  over_ = around.empty();
  return first(around);
}

void Tuner::tell(std::int64_t point, std::optional<double> cost) {
  costs_[point] = cost;
  if (!cost) return;
  if (!best_ || *cost < *costs_.at(*best_)) best_ = point, checks_ = 0;
}

}  // namespace tutti::core
