#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/explore/space.h"

namespace tutti::core {

struct TunerOptions {
  std::int64_t evaluations = 100;  ///< maximum number of points to evaluate
  std::uint64_t seed = 0;          ///< seed of the random numbers that select points
  /// The search ends when no point is expected to reduce the best cost by more than this share of
  /// the best cost.
  double enough = 0.002;
  double least = 0;  ///< lower bound of the cost, which limits the expected improvement; 0 if none
                     ///< is known
  /// For each axis, the indices of the rows (values of the axis) that may be evaluated. If the list
  /// of an axis is empty or missing, all rows of the axis may be evaluated.
  std::vector<std::vector<std::int64_t>> rows = {};
};

/// Searches a space for the point with the lowest cost, without evaluating all points. The search
/// begins with points that are spread over all axes. After these points, a few points are selected
/// at a time: the points with the largest expected improvement according to a Kriging model of the
/// logarithm of the cost, and points that differ from the best point along one axis.
///
/// The caller evaluates the points that next() returns, and passes their costs to tell(). The
/// search gives the same points no matter how many evaluations run in parallel.
class Tuner {
 public:
  /// REQUIRES: `space` outlives the tuner.
  Tuner(const Space& space, const TunerOptions& options);

  /// Returns the next points to evaluate; empty if the search is over. No point is returned twice.
  /// REQUIRES: the costs of all earlier points were passed to tell().
  std::vector<std::int64_t> next();
  /// True if the axis has a single field, whose values are at least three numbers.
  [[nodiscard]] bool is_ordered(std::size_t axis) const { return ordered_[axis]; }
  /// Returns the rows of an ordered axis that may be evaluated, in ascending order of their values.
  [[nodiscard]] const std::vector<std::int64_t>& in_order(std::size_t axis) const {
    return ranks_[axis];
  }
  /// Reports the cost of a point. The cost must be above 0; nullopt means that the point is
  /// invalid.
  void tell(std::int64_t point, std::optional<double> cost);

  [[nodiscard]] std::optional<std::int64_t> best() const { return best_; }
  [[nodiscard]] std::int64_t evaluated() const { return std::ssize(costs_); }
  /// Returns the number of points that may be evaluated.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Returns the points whose costs were reported.
  [[nodiscard]] std::vector<std::int64_t> requested() const {
    std::vector<std::int64_t> points;
    for (const auto& [point, cost] : costs_) points.push_back(point);
    return points;
  }
  /// The largest expected improvement among the points that were not evaluated, as a share of the
  /// best cost.
  [[nodiscard]] double max_expected_improvement() const { return max_expected_improvement_; }

 private:
  std::vector<std::int64_t> design();
  std::vector<std::int64_t> promising();
  [[nodiscard]] std::vector<std::int64_t> along_axes() const;
  std::vector<std::int64_t> anywhere();
  [[nodiscard]] std::vector<double> place(std::int64_t point) const;
  std::vector<std::int64_t> candidates();
  /// Returns a random point whose rows are all allowed by TunerOptions::rows.
  std::int64_t random_point();
  /// True if the point was not evaluated yet, and TunerOptions::rows allows each of its rows.
  [[nodiscard]] bool is_new(std::int64_t point) const;

  const Space& space_;
  TunerOptions options_;
  Random random_;
  std::vector<bool> ordered_;                ///< result of is_ordered() for each axis
  std::vector<std::vector<double>> places_;  ///< coordinate of each row of each axis in the Kriging
                                             ///< model
  /// For each axis, the rows that may be evaluated. The rows of an ordered axis are sorted by
  /// value.
  std::vector<std::vector<std::int64_t>> ranks_;
  std::vector<std::vector<bool>> allowed_;  ///< for each row of each axis, true if the row may be
                                            ///< evaluated
  std::int64_t size_ = 1;                   ///< number of points that may be evaluated
  std::map<std::int64_t, std::optional<double>> costs_;
  std::optional<std::int64_t> best_;
  double max_expected_improvement_ = 1;
  bool designed_ = false;
  bool over_ = false;
  int checks_ = 0;  ///< number of batches of random points since the best point was found
};

}  // namespace tutti::core
