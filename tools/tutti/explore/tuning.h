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

/// One search for the best settings of a scenario, with everything that its report says. tuning.cpp has the search and the
/// verdict; tuning_around.cpp has what is found out around the best: curves, other clusters, and what to paste.
class Tuning {
 public:
  /// `store`: where what is tried goes; null: nowhere. `notes`: what is to be said in any case.
  Tuning(const TuneOptions& options, const core::Library& library, core::Scenario now, std::string text,
         std::vector<core::Override> set, core::Space space, core::SweepStore* store, std::vector<std::string> notes,
         const Interrupt& interrupt);

  /// What takes more work to simulate is not tried.
  void leave_out_beyond(const sim::MostWork& work) {
    most_work_ = work;
    evaluator_.leave_out_beyond(work);
  }

  /// ERRORS: the scenario as it is cannot be run. False: interrupted.
  core::Expected<bool> carry_out();

  [[nodiscard]] const TuneResult& result() const { return result_; }
  [[nodiscard]] const core::Space& space() const { return space_; }
  [[nodiscard]] const std::map<std::int64_t, core::Outcome>& tried() const { return trials_.tried(); }
  /// It was judged against other points: it can be compared, and is not of those that other links make slow.
  [[nodiscard]] bool is_compared(std::int64_t point) {
    return comparable_->why_not(point).empty() && !rejected_.contains(comparable_->key_of(point));
  }

 private:
  /// Other clusters on which settings are tried.
  static constexpr std::int64_t kCases = 4;
  /// Values to each side of the best along an axis.
  static constexpr std::int64_t kAround = 4;
  enum class Compared { kYes, kNo };

  /// Simulates a scenario with all that a report needs.
  core::Expected<void> tell_of(Told& told, const char* doing);
  /// What no setting gets below, if that is known: where the strategy alone varies, and sends what it always sends.
  [[nodiscard]] double least_step() const;
  /// Evaluations that are left for what is to be shown beside the search.
  [[nodiscard]] std::int64_t left() const { return options_.evaluations - result_.tried - result_.beside; }
  /// What the search leaves for that: up to half of all.
  [[nodiscard]] std::int64_t kept_from_search() const;
  /// False: interrupted.
  core::Expected<bool> search();
  /// The fastest of the points that were tried and can be compared with what there is, or that
  /// cannot. What was stopped is none: by then it took longer than another.
  [[nodiscard]] std::optional<std::int64_t> best_tried(Compared compared);
  /// What is found out around the best, and whether it is advised; if it would lose to what there
  /// is on a cluster whose links are better or worse, the next best in its place. False:
  /// interrupted.
  core::Expected<bool> judge_the_best();
  /// Simulates the best again, with all that a report needs. False: interrupted.
  core::Expected<bool> tell_of_best();
  /// Tries the other rows with all else as at the best, one for each value of the axis' first
  /// field: whether they seem to be faster. False: interrupted.
  core::Expected<bool> try_others();
  /// The fastest of what cannot be compared, if it seems to be faster than what is recommended.
  void find_rival();
  void say_why_there_is_no_best();

  /// The values around the best along an axis, as many as the evaluations are enough for; from one place in `order` to another.
  std::pair<std::int64_t, std::int64_t> around_best(std::size_t axis, const std::vector<std::int64_t>& order,
                                                    std::int64_t at);
  /// Some values to each side of the best, along every axis that has an order; again around
  /// whatever of these is better still. False: interrupted.
  core::Expected<bool> add_curves();
  core::Expected<bool> add_curve(std::size_t axis, const std::vector<std::int64_t>& order);
  /// Both settings on a cluster whose links are better or worse. False: interrupted.
  core::Expected<bool> add_sensitivity();
  /// The step on a cluster with other links; 0 if it cannot be simulated.
  core::Expected<core::Time> elsewhere(const core::Scenario& scenario, core::Scaled scaled, double factor);
  /// A cluster on which the best is slower than what there is by more than the error of such a
  /// difference. Where others move the bytes now than in the best, links say nothing: NCCL's times
  /// do not go by them.
  [[nodiscard]] const Sensitivity* lost_case() const;
  /// What to paste for what is recommended, each simulated by its framework's own packing. False:
  /// interrupted.
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
  std::optional<sim::MostWork> most_work_;
  std::optional<ComparablePoints> comparable_;  ///< with the scenario as it is
  ComparablePoints::Rows rows_;
  std::set<std::string> rejected_;  ///< by key_of()
  std::array<std::optional<core::Time>, kCases> now_elsewhere_;
  bool any_slow_ = false;  ///< of what can be compared, something was stopped since it was slow
  std::optional<std::int64_t> best_;
  std::vector<std::pair<std::size_t, std::vector<std::int64_t>>> curve_axes_;
};

}  // namespace tutti::tools
