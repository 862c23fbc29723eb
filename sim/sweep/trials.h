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

/// If a candidate's training step takes this many times as long as the training step of the best
/// candidate, the evaluation of the candidate stops early.
inline constexpr double kMaxSlowdown = 1.25;

/// The points of a space that a search has evaluated. If there is a file, points with a result in
/// the file are not evaluated again. Every new result is immediately written to the file, so that
/// other programs can observe the search, and a killed search can be continued.
class Trials {
 public:
  /// `store`: the file, which has a sweep of the same space; null: there is no file. `stop`: as in
  /// PoolWork. REQUIRES: all arguments outlive this object.
  Trials(const core::Space& space, Evaluator& evaluator, int threads, std::function<bool()> stop,
         core::SweepStore* store = nullptr)
      : space_(space),
        evaluator_(evaluator),
        threads_(threads),
        stop_(std::move(stop)),
        store_(store) {}

  /// Sets a predicate that is true for points whose costs can be compared with each other. A search
  /// also evaluates points for which the predicate is false, but reports them to the tuner as
  /// invalid. The predicate is called on the thread of the caller. Default: all points are
  /// comparable.
  void compare_only(std::function<bool(std::int64_t point)> comparable) {
    comparable_ = std::move(comparable);
  }

  /// Reads the results in the file, so that the points with results are not evaluated again.
  /// ERRORS: the file cannot be read; a file that scenarios name has changed.
  core::Expected<void> take_over(const core::Library& library);
  /// Evaluates the points in `points` that have not been evaluated. The evaluation of a point stops
  /// early if its training steps take longer than `max_step_time`. Returns false if `stop` ended
  /// the evaluation. ERRORS: the disk is full.
  core::Expected<bool> evaluate(const std::vector<std::int64_t>& points, core::Time max_step_time);
  /// Evaluates the points that the tuner requests, until it requests no more points. The evaluation
  /// of a point stops early if the point is much slower than the best point so far, or than `now`,
  /// the step time of the unchanged scenario (kNever: unknown). `progress` is called regularly with
  /// the number of points that have been reported to the tuner, even if a single point takes long.
  /// Returns false if `stop` ended the search. ERRORS: as for evaluate().
  core::Expected<bool> search(core::Tuner& tuner, core::Time now,
                              const std::function<void(std::int64_t evaluated)>& progress);
  /// Deletes the results of those points whose evaluation stopped early, so that the next request
  /// evaluates them completely.
  void discard_stopped(const std::vector<std::int64_t>& points);

  [[nodiscard]] const std::map<std::int64_t, core::Outcome>& tried() const { return tried_; }

 private:
  const core::Space& space_;
  Evaluator& evaluator_;
  int threads_;
  std::function<bool()> stop_;
  core::SweepStore* store_;
  /// Set only during a search. Called with the number of points of the current request that are
  /// complete.
  std::function<void(std::int64_t done)> watch_;
  std::function<bool(std::int64_t point)> comparable_;
  std::map<std::int64_t, core::Outcome> tried_;
};

/// Returns the cost of a point for a tuner; nullopt if the point is invalid.
std::optional<double> cost_of(const core::Outcome& outcome);

}  // namespace tutti::sim
