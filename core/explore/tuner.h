#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/base/random.h"
#include "core/explore/space.h"

namespace tutti::core {

struct TunerOptions {
  std::int64_t evaluations = 100;  ///< at most so many points
  std::uint64_t seed = 0;          ///< another one, another way through the space
  /// Nothing more is tried once no point promises to be better than the best by this share.
  double enough = 0.002;
  double least = 0;  ///< no point costs less; 0: not known
  /// By axis: its rows of which points are asked for. An axis without any, or beyond the end: all
  /// of its rows.
  std::vector<std::vector<std::int64_t>> rows = {};
};

/// Searches a space for the point of the least cost, without trying all of them: first a design that is spread over all axes, then,
/// a few at a time, the points that promise most by a Kriging of the logarithms of the costs, and what differs from the best along one axis alone. It
/// asks for points and is told what they cost; who evaluates them, and how many at the same time, makes no difference to its way.
class Tuner {
 public:
  /// `space` outlives it.
  Tuner(const Space& space, const TunerOptions& options);

  /// The next points to evaluate, none of which was asked for before. Empty: the search is over. REQUIRES: the ones before were told.
  std::vector<std::int64_t> next();
  /// The axis' values are numbers, which have an order.
  [[nodiscard]] bool is_ordered(std::size_t axis) const { return ordered_[axis]; }
  /// Rows of an ordered axis from the least value to the largest, of those that are asked for.
  [[nodiscard]] const std::vector<std::int64_t>& in_order(std::size_t axis) const { return ranks_[axis]; }
  /// What a point costs, above 0; nothing: it cannot be.
  void tell(std::int64_t point, std::optional<double> cost);

  [[nodiscard]] std::optional<std::int64_t> best() const { return best_; }
  [[nodiscard]] std::int64_t told() const { return std::ssize(costs_); }
  /// Points that it may ask for.
  [[nodiscard]] std::int64_t size() const { return size_; }
  /// Those that it was told of.
  [[nodiscard]] std::vector<std::int64_t> asked() const {
    std::vector<std::int64_t> points;
    for (const auto& [point, cost] : costs_) points.push_back(point);
    return points;
  }
  /// By what share of the best cost a point that was not tried may be expected to be better, at most, when the search ended.
  [[nodiscard]] double promised() const { return promised_; }

 private:
  std::vector<std::int64_t> design();
  std::vector<std::int64_t> promising();
  [[nodiscard]] std::vector<std::int64_t> along_axes() const;
  std::vector<std::int64_t> anywhere();
  [[nodiscard]] std::vector<double> place(std::int64_t point) const;
  std::vector<std::int64_t> candidates();
  /// The point was not asked for yet, and its rows may be.
  [[nodiscard]] bool is_new(std::int64_t point) const;

  const Space& space_;
  TunerOptions options_;
  Random random_;
  std::vector<bool> ordered_;                ///< by axis
  std::vector<std::vector<double>> places_;  ///< by axis and row: where it is
  std::vector<std::vector<std::int64_t>>
      ranks_;  ///< by ordered axis: its rows from the least value to the largest; of others as they are
  std::vector<std::vector<bool>> asks_for_;  ///< by axis and row
  std::int64_t size_ = 1;                    ///< points that may be asked for
  std::map<std::int64_t, std::optional<double>> costs_;
  std::optional<std::int64_t> best_;
  double promised_ = 1;
  bool designed_ = false;
  bool over_ = false;
  int checks_ = 0;  ///< since the best was found
};

}  // namespace tutti::core
