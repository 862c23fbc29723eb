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

/// A candidate that takes so many times as long as the best so far will not become it.
inline constexpr double kHopeless = 1.25;

/// What was tried of a space, by a search that tries a few points of it. With a file, what it has is not tried again, and everything
/// that is tried goes there as it is done, so that others can watch, and a search that was killed goes on.
class Trials {
 public:
  /// All outlive it. `store`: a sweep of the same space; null: none. `stop`: as of CrowdWork.
  Trials(const core::Space& space, Evaluator& evaluator, int threads, std::function<bool()> stop,
         core::SweepStore* store = nullptr)
      : space_(space), evaluator_(evaluator), threads_(threads), stop_(std::move(stop)), store_(store) {}

  /// A search evaluates points for which this is false, and tells the tuner that they cannot be:
  /// their costs say nothing against those of the others. Called on the calling thread. Default:
  /// all are compared.
  void compare_only(std::function<bool(std::int64_t point)> comparable) { comparable_ = std::move(comparable); }

  /// Takes over what the file has. ERRORS: it cannot be read; files that scenarios name are not what they were.
  core::Expected<void> take_over(const core::Library& library);
  /// Does those that were not tried yet. A point is given up once its steps take longer than `hopeless`. False: stopped.
  /// ERRORS: the disk is full.
  core::Expected<bool> evaluate(const std::vector<std::int64_t>& points, core::Time hopeless);
  /// Does what the tuner asks for, until it asks for nothing more; gives up what is slower by far than the best so far, or than `now`, the step as it is
  /// (kNever: that is not known). `progress` is called now and then, also while one point takes long. False: stopped. ERRORS: likewise.
  core::Expected<bool> search(core::Tuner& tuner, core::Time now,
                              const std::function<void(std::int64_t told)>& progress);
  /// What was given up is tried again to its end, when it is asked for the next time.
  void forget_given_up(const std::vector<std::int64_t>& points);

  [[nodiscard]] const std::map<std::int64_t, core::Outcome>& tried() const { return tried_; }

 private:
  const core::Space& space_;
  Evaluator& evaluator_;
  int threads_;
  std::function<bool()> stop_;
  core::SweepStore* store_;
  std::function<void(std::int64_t done)> watch_;  ///< of a search: so many of the points at hand are done
  std::function<bool(std::int64_t point)> comparable_;
  std::map<std::int64_t, core::Outcome> tried_;
};

/// What a point costs, as a tuner is told of it; nothing: it cannot be.
std::optional<double> cost_of(const core::Outcome& outcome);

}  // namespace tutti::sim
