#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "core/explore/sweep_store.h"
#include "core/explore/tuner.h"
#include "sim/sweep/evaluator.h"

namespace tutti::sim {

/// A candidate is abandoned if its training step takes this many times as long as that of the best
/// candidate so far.
inline constexpr double kHopeless = 1.25;

/// The points of a space that a search has tried. If there is a file, points in it are not tried
/// again, and every new result is added at once, so that others can watch the search, and a killed
/// search can be continued.
class Trials {
 public:
  /// `store`: the file, a sweep of the same space; null: no file. `stop`: as in PoolWork. REQUIRES:
  /// all arguments outlive this object.
  Trials(const core::Space& space, Evaluator& evaluator, int threads, std::function<bool()> stop,
         core::SweepStore* store = nullptr)
      : space_(space),
        evaluator_(evaluator),
        threads_(threads),
        stop_(std::move(stop)),
        store_(store) {}

  /// Sets a predicate for points whose costs can be compared with those of the other points. A
  /// search evaluates the other points too, but reports them to the tuner as invalid. Called on the
  /// thread of the caller. Default: all points are comparable.
  void compare_only(std::function<bool(std::int64_t point)> comparable) {
    comparable_ = std::move(comparable);
  }

  /// Takes over the results in the file. ERRORS: the file cannot be read; a file that scenarios
  /// name has changed.
  core::Expected<void> take_over(const core::Library& library);
  /// Evaluates those of `points` that were not tried yet. A point is abandoned if its training
  /// steps take longer than `hopeless`. Returns false if `stop` ended the evaluation.
  /// ERRORS: the disk is full.
  core::Expected<bool> evaluate(const std::vector<std::int64_t>& points, core::Time hopeless);
  /// Evaluates the points that the tuner requests, until it requests no more. Abandons points that
  /// are much slower than the best point so far, or than `now`, the step time of the scenario
  /// without changes (kNever: unknown). `progress` is called regularly with the number of points
  /// reported to the tuner, also while one point takes long. Returns false if `stop` ended the
  /// search. ERRORS: as evaluate().
  core::Expected<bool> search(core::Tuner& tuner, core::Time now,
                              const std::function<void(std::int64_t told)>& progress);
  /// Forgets those of `points` that were abandoned, so that the next request evaluates them to the
  /// end.
  void forget_given_up(const std::vector<std::int64_t>& points);

  [[nodiscard]] const std::map<std::int64_t, core::Outcome>& tried() const { return tried_; }

 private:
  const core::Space& space_;
  Evaluator& evaluator_;
  int threads_;
  std::function<bool()> stop_;
  core::SweepStore* store_;
  /// Only during a search: called with the number of current points that are done.
  std::function<void(std::int64_t done)> watch_;
  std::function<bool(std::int64_t point)> comparable_;
  std::map<std::int64_t, core::Outcome> tried_;
};

/// Returns the cost of a point for a tuner; nothing if the point is invalid.
std::optional<double> cost_of(const core::Outcome& outcome);

}  // namespace tutti::sim
