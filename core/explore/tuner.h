#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/explore/space.h"

namespace tutti::core {

struct TunerOptions {
  std::int64_t evaluations = 100;  ///< the maximum number of points
  std::uint64_t seed = 0;          ///< determines the path through the space
  /// The search ends once no point is expected to improve on the best one by this share.
  double enough = 0.002;
  double least = 0;  ///< lower bound of the cost; 0: not known
  /// By axis: the rows that may be evaluated. An empty list, or a missing one: all rows of the
  /// axis.
  std::vector<std::vector<std::int64_t>> rows = {};
};

/// Searches a space for the point of least cost without evaluating all of them: first a design that
/// is spread over all axes, then, a few at a time, the most promising points by a Kriging model of
/// the logarithm of the cost, and points that differ from the best along a single axis. It requests
/// points and receives their costs; its path does not depend on which evaluator runs them, or on
/// how many run at a time.
class Tuner {
 public:
  /// REQUIRES: `space` outlives the tuner.
  Tuner(const Space& space, const TunerOptions& options);

  /// Returns the next points to evaluate, each requested only once; empty: the search is over.
  /// REQUIRES: all earlier ones were reported with tell().
  std::vector<std::int64_t> next();
  /// True if the axis' values are numbers, which have an order.
  [[nodiscard]] bool is_ordered(std::size_t axis) const { return ordered_[axis]; }
  /// Returns the allowed rows of an ordered axis, from the smallest value to the largest.
  [[nodiscard]] const std::vector<std::int64_t>& in_order(std::size_t axis) const {
    return ranks_[axis];
  }
  /// Reports the cost of a point, above 0; nullopt: the point is invalid.
  void tell(std::int64_t point, std::optional<double> cost);

  [[nodiscard]] std::optional<std::int64_t> best() const { return best_; }
  [[nodiscard]] std::int64_t told() const { return std::ssize(costs_); }
  /// The number of points that may be requested.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Returns the points whose costs were reported.
  [[nodiscard]] std::vector<std::int64_t> asked() const {
    std::vector<std::int64_t> points;
    for (const auto& [point, cost] : costs_) points.push_back(point);
    return points;
  }
  /// The maximum expected improvement of an untried point when the search ended, as a share of the
  /// best cost.
  [[nodiscard]] double promised() const { return promised_; }

 private:
  std::vector<std::int64_t> design();
  std::vector<std::int64_t> promising();
  [[nodiscard]] std::vector<std::int64_t> along_axes() const;
  std::vector<std::int64_t> anywhere();
  [[nodiscard]] std::vector<double> place(std::int64_t point) const;
  std::vector<std::int64_t> candidates();
  /// True if the point was not requested yet, and its rows are allowed.
  [[nodiscard]] bool is_new(std::int64_t point) const;

  const Space& space_;
  TunerOptions options_;
  Random random_;
  std::vector<bool> ordered_;                     ///< for each axis: true if it is ordered
  std::vector<std::vector<double>> places_;       ///< coordinate of each row, by axis
  std::vector<std::vector<std::int64_t>> ranks_;  ///< rows of each axis, by value if ordered
  std::vector<std::vector<bool>> asks_for_;       ///< true for rows that may be evaluated, by axis
  std::int64_t size_ = 1;                         ///< number of points that may be requested
  std::map<std::int64_t, std::optional<double>> costs_;
  std::optional<std::int64_t> best_;
  double promised_ = 1;
  bool designed_ = false;
  bool over_ = false;
  int checks_ = 0;  ///< number of random checks since the best was found
};

}  // namespace tutti::core
