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

/// The evaluation of a point stops early if its training steps take more than kMaxSlowdown times as
/// long as those of the best point.
inline constexpr double kMaxSlowdown = 1.25;

/// The points of a space that a search has evaluated. If there is a file, points whose results are
/// in the file are not evaluated again. Every new result is written to the file immediately, so
/// that other programs can observe the search, and a search that was killed can be continued.
class Trials {
 public:
  /// `store` is the file, which must contain a sweep of the same space; null if there is no file.
  /// `stop` is the same as in PoolWork. REQUIRES: all arguments outlive this object.
  Trials(const core::Space& space, Evaluator& evaluator, int threads, std::function<bool()> stop,
         core::SweepStore* store = nullptr)
      : space_(space),
        evaluator_(evaluator),
        threads_(threads),
        stop_(std::move(stop)),
        store_(store) {}

  /// Sets a predicate that is true for points whose costs can be compared with each other. A search
  /// also evaluates all other points, but reports them to the tuner as invalid. The predicate is
  /// called on the thread of the caller. By default, all points are comparable.
  void compare_only(std::function<bool(std::int64_t point)> comparable) {
    comparable_ = std::move(comparable);
  }

  /// Sets PoolWork::waiting of the pools that evaluate points.
  void inform_when_waiting(std::function<void()> waiting) { waiting_ = std::move(waiting); }

  /// Reads the results from the file, so that points with a result are not evaluated again.
  /// ERRORS: the file cannot be read; a file that scenarios name has changed.
  core::Expected<void> take_over(const core::Library& library);
  /// Evaluates those of `points` that have no result yet. Stops the evaluation of a point early if
  /// its training steps take longer than `max_step_time`. Returns false if `stop` has returned
  /// true. ERRORS: the disk is full.
  core::Expected<bool> evaluate(const std::vector<std::int64_t>& points, core::Time max_step_time);
  /// Evaluates the points that the tuner requests, until it requests no more. `now` is the step
  /// time of the unchanged scenario; kNever if unknown. The evaluation of a point stops early if
  /// the point is much slower than `now` or than the best point so far. `progress` is called
  /// regularly, also during the evaluation of a point, with the number of points whose costs the
  /// tuner knows. Returns false if `stop` has returned true. ERRORS: those of evaluate().
  core::Expected<bool> search(core::Tuner& tuner, core::Time now,
                              const std::function<void(std::int64_t evaluated)>& progress);
  /// Deletes the results of those of `points` whose evaluation stopped early, so that the next call
  /// of evaluate() evaluates them completely.
  void discard_stopped(const std::vector<std::int64_t>& points);

  [[nodiscard]] const std::map<std::int64_t, core::Outcome>& tried() const { return tried_; }

 private:
  const core::Space& space_;
  Evaluator& evaluator_;
  int threads_;
  std::function<bool()> stop_;
  std::function<void()> waiting_;
  core::SweepStore* store_;
  /// Called with the number of completed points of the tuner's current request. Set only during a
  /// search.
  std::function<void(std::int64_t done)> watch_;
  std::function<bool(std::int64_t point)> comparable_;
  std::map<std::int64_t, core::Outcome> tried_;
};

/// Returns the cost that is reported to a tuner for an outcome; nullopt if the point is invalid.
std::optional<double> cost_of(const core::Outcome& outcome);

}  // namespace tutti::sim
