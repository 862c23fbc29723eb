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

/// A candidate that takes this many times as long as the best so far is abandoned.
inline constexpr double kHopeless = 1.25;

/// The points of a space that a search has tried. With a file, points in it are not tried again,
/// and every new result is added to it at once, so that others can watch, and a killed search can
/// be continued.
class Trials {
 public:
  /// `store`: a sweep of the same space; null: none. `stop`: as in CrowdWork. REQUIRES: all
  /// arguments outlive it.
  Trials(const core::Space& space, Evaluator& evaluator, int threads, std::function<bool()> stop,
         core::SweepStore* store = nullptr)
      : space_(space),
        evaluator_(evaluator),
        threads_(threads),
        stop_(std::move(stop)),
        store_(store) {}

  /// A search evaluates points for which this is false, and reports them to the tuner as invalid,
  /// because their costs cannot be compared with those of the others. Called on the calling thread.
  /// Default: all are compared.
  void compare_only(std::function<bool(std::int64_t point)> comparable) {
    comparable_ = std::move(comparable);
  }

  /// Reads the results in the file. ERRORS: it cannot be read; files that scenarios name have
  /// changed.
  core::Expected<void> take_over(const core::Library& library);
  /// Evaluates those points that were not tried yet. A point is abandoned once its steps take
  /// longer than `hopeless`. Returns false if it was stopped.
  /// ERRORS: the disk is full.
  core::Expected<bool> evaluate(const std::vector<std::int64_t>& points, core::Time hopeless);
  /// Evaluates the points that the tuner requests, until it requests no more. Abandons points that
  /// are much slower than the best so far, or than `now`, the step time of the scenario without
  /// changes (kNever: unknown). `progress` is called now and then, also while one point takes long.
  /// Returns false if it was stopped. ERRORS: as evaluate().
  core::Expected<bool> search(core::Tuner& tuner, core::Time now,
                              const std::function<void(std::int64_t told)>& progress);
  /// Abandoned points are evaluated to the end when they are requested again.
  void forget_given_up(const std::vector<std::int64_t>& points);

  [[nodiscard]] const std::map<std::int64_t, core::Outcome>& tried() const { return tried_; }

 private:
  const core::Space& space_;
  Evaluator& evaluator_;
  int threads_;
  std::function<bool()> stop_;
  core::SweepStore* store_;
  std::function<void(std::int64_t done)>
      watch_;  ///< only during a search; called with the number of current points done
  std::function<bool(std::int64_t point)> comparable_;
  std::map<std::int64_t, core::Outcome> tried_;
};

/// Returns the cost of a point for a tuner; nothing if the point is impossible.
std::optional<double> cost_of(const core::Outcome& outcome);

}  // namespace tutti::sim
