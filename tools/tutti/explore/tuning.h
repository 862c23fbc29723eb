#pragma once

#include <array>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/advice/what_if.h"
#include "core/explore/space.h"
#include "core/explore/sweep_store.h"
#include "sim/simulator.h"
#include "sim/sweep/affordable.h"
#include "sim/sweep/evaluator.h"
#include "sim/sweep/trials.h"
#include "tools/tutti/explore/tune.h"
#include "tools/tutti/explore/tune_comparable.h"
#include "tools/tutti/explore/tune_report.h"
#include "tools/tutti/io/interrupt.h"

namespace tutti::tools {

/// A search for the best settings of a scenario, with all data for its report. The file tuning.cpp
/// contains the search and the decision. The file tuning_around.cpp explores the surroundings of
/// the best setting: curves, other clusters, and snippets.
class Tuning {
 public:
  /// `store`: stores the points that are tried; null: points are not stored. `notes`: notes that
  /// every report contains.
  Tuning(const TuneOptions& options, const core::Library& library, core::Scenario now,
         std::string text, std::vector<core::Override> set, core::Space space,
         core::SweepStore* store, std::vector<std::string> notes, const Interrupt& interrupt);

  /// After this call, evaluations skip points whose simulation takes more than `work`.
  void limit_work(const sim::MostWork& work) {
    max_work_ = work;
    evaluator_.limit_work(work);
  }
  /// Simulates every setting with each of these seeds (overrides of run.seed), and compares
  /// medians.
  void over_seeds(std::vector<core::Override> seeds) { evaluator_.over_seeds(std::move(seeds)); }

  /// Runs the search. Returns false if interrupted. ERRORS: the current scenario cannot be
  /// simulated.
  core::Expected<bool> execute_points();

  [[nodiscard]] const TuneResult& result() const { return result_; }
  [[nodiscard]] TuneResult take_result() { return std::move(result_); }
  [[nodiscard]] const core::Space& space() const { return space_; }
  [[nodiscard]] const std::map<std::int64_t, core::Outcome>& tried() const {
    return trials_.tried();
  }
  /// Returns true if the point can become the best point. The step time of the point must be
  /// comparable with the current step time, and the point must not have been rejected as slow on
  /// clusters with other links.
  [[nodiscard]] bool is_compared(std::int64_t point) {
    return comparable_->why_not(point).empty() && !rejected_.contains(comparable_->key_of(point));
  }

 private:
  /// The number of clusters with other links on which the best setting is checked.
  static constexpr std::int64_t kCases = 4;
  /// The number of values that are evaluated on each side of an axis's best value.
  static constexpr std::int64_t kAround = 4;
  enum class Compared { kYes, kNo };

  /// Simulates the current settings. Returns false if interrupted.
  core::Expected<bool> simulate_now();
  /// Simulates settings with each seed, and appends the step times to `times`. Returns a list with
  /// one override, which sets the seed that has the median time. The list is empty if there are no
  /// seeds or an outcome is not kDone. Returns nullopt if interrupted.
  std::optional<std::vector<core::Override>> median_over_seeds(
      const std::vector<core::Override>& changes, std::vector<core::Time>& times);
  /// Simulates a scenario, and fills in the data for its report.
  core::Expected<void> simulate_for_report(SimulatedScenario& evaluated, const char* doing);
  /// Returns a lower bound of the step time over all settings; 0 if the bound is unknown. The bound
  /// is known if only the strategy varies, and all settings have the same traffic.
  [[nodiscard]] double min_step() const;
  /// Returns the number of evaluations that are left after the search, for curves and other
  /// variations.
  [[nodiscard]] std::int64_t left() const {
    return options_.evaluations - result_.tried - result_.beside;
  }
  /// Returns the number of evaluations that the search reserves for curves and other variations; at
  /// most half of all evaluations.
  [[nodiscard]] std::int64_t kept_from_search() const;
  /// Returns false if interrupted.
  core::Expected<bool> search();
  /// Returns the fastest evaluated point that is comparable (kYes) or not comparable (kNo) with the
  /// current scenario. Ignores points whose simulation was stopped because another point is faster.
  [[nodiscard]] std::optional<std::int64_t> best_tried(Compared compared);
  /// Evaluates the neighbours of the best setting, and decides whether to recommend the setting. If
  /// the best setting is slower than the current setting on a cluster with better or worse links,
  /// continues with the next best setting. Returns false if interrupted.
  core::Expected<bool> validate_best();
  /// Simulates the best setting again, and fills in the data for its report. Returns false if
  /// interrupted.
  core::Expected<bool> report_best();
  /// Simulates settings whose times are not comparable with the current time, to find out whether
  /// they seem to be faster. Each setting differs from the best setting in one axis; there is one
  /// setting per value of the axis's first field. Returns false if interrupted.
  core::Expected<bool> try_others();
  /// Finds the fastest setting that is not comparable, if this setting seems to be faster than the
  /// recommended setting.
  void find_incomparable();
  /// Finds the lowest step time of each tried algorithm, if the scenario's algorithm comes from a
  /// file.
  void compare_algorithms();
  void explain_no_best();

  /// Returns the range of positions in `order` that should be evaluated around `at`, the position
  /// of an axis's best value. The number of remaining evaluations limits the length of the range.
  std::pair<std::int64_t, std::int64_t> around_best(std::size_t axis,
                                                    const std::vector<std::int64_t>& order,
                                                    std::int64_t at);
  /// Evaluates some values on each side of the best value, along every ordered axis. If a value
  /// turns out to be better than the best value, repeats the evaluation around the better value.
  /// Returns false if interrupted.
  core::Expected<bool> add_curves();
  core::Expected<bool> add_curve(std::size_t axis, const std::vector<std::int64_t>& order);
  /// Evaluates the current setting and the best setting on clusters with better and worse links.
  /// Returns false if interrupted.
  core::Expected<bool> add_sensitivity();
  /// Returns the step time on a cluster with other links; 0 if the scenario cannot be simulated.
  core::Expected<core::Time> elsewhere(const core::Scenario& scenario, core::Scaled scaled,
                                       double factor);
  /// Returns a cluster on which the best setting is slower than the current setting, by more than
  /// the error of the difference. Returns null if there is no such cluster. Also returns null if
  /// different software moves the gradients in the two settings, such as NCCL and gRPC. In this
  /// case, a cluster with other links does not show which setting is better, because NCCL's
  /// predicted times do not follow changed links.
  [[nodiscard]] const Sensitivity* lost_case() const;
  /// Makes the snippets for the recommended setting. Simulates each snippet with the packing that
  /// the framework of the snippet produces. Returns false if interrupted.
  core::Expected<bool> add_snippets();

  const TuneOptions& options_;
  const core::Library& library_;
  const Interrupt& interrupt_;
  sim::BaseScenario base_;
  core::Space space_;
  sim::Simulator simulator_;
  sim::Evaluator evaluator_;
  TuneResult result_;
  sim::Trials trials_;
  std::optional<sim::MostWork> max_work_;
  std::optional<ComparablePoints> comparable_;  ///< finds the points whose cost is comparable with
                                                ///< that of the current scenario
  ComparablePoints::Rows rows_;
  std::set<std::string> rejected_;  ///< key_of() of rejected points
  std::array<std::optional<core::Time>, kCases> now_elsewhere_;
  bool any_slow_ = false;  ///< true: the simulation of a comparable point was stopped because the
                           ///< point is too slow
  std::optional<std::int64_t> best_;
  std::vector<std::pair<std::size_t, std::vector<std::int64_t>>> curve_axes_;
};

}  // namespace tutti::tools
