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

/// A search for the best settings of a scenario, with everything that its report contains.
/// tuning.cpp has the search and the verdict; tuning_around.cpp explores around the best: curves,
/// other clusters, and snippets.
class Tuning {
 public:
  /// `store`: records the points that are tried; null: they are not recorded. `notes`: notes that
  /// the report contains in any case.
  Tuning(const TuneOptions& options, const core::Library& library, core::Scenario now,
         std::string text, std::vector<core::Override> set, core::Space space,
         core::SweepStore* store, std::vector<std::string> notes, const Interrupt& interrupt);

  /// Skips points whose simulation takes more work than this.
  void leave_out_beyond(const sim::MostWork& work) {
    most_work_ = work;
    evaluator_.leave_out_beyond(work);
  }

  /// Runs the search. Returns false if it was interrupted. ERRORS: the current scenario cannot be
  /// run.
  core::Expected<bool> execute_points();

  [[nodiscard]] const TuneResult& result() const { return result_; }
  [[nodiscard]] TuneResult take_result() { return std::move(result_); }
  [[nodiscard]] const core::Space& space() const { return space_; }
  [[nodiscard]] const std::map<std::int64_t, core::Outcome>& tried() const {
    return trials_.tried();
  }
  /// Returns true if the point is judged against others: it is comparable, and was not rejected
  /// because other links make it slow.
  [[nodiscard]] bool is_compared(std::int64_t point) {
    return comparable_->why_not(point).empty() && !rejected_.contains(comparable_->key_of(point));
  }

 private:
  /// The number of other clusters on which settings are tried.
  static constexpr std::int64_t kCases = 4;
  /// The number of values on each side of the best along an axis.
  static constexpr std::int64_t kAround = 4;
  enum class Compared { kYes, kNo };

  /// Simulates a scenario and everything that a report needs.
  core::Expected<void> tell_of(Told& told, const char* doing);
  /// Returns a lower bound of the step time over all settings, if it is known: if only the strategy
  /// varies, and the traffic is the same for all.
  [[nodiscard]] double min_step() const;
  /// Returns the number of evaluations that are left for curves and other variations after the
  /// search.
  [[nodiscard]] std::int64_t left() const {
    return options_.evaluations - result_.tried - result_.beside;
  }
  /// Returns the number of evaluations that the search reserves for these: at most half of all.
  [[nodiscard]] std::int64_t kept_from_search() const;
  /// Returns false if interrupted.
  core::Expected<bool> search();
  /// Returns the fastest of the points that were tried and are (or are not) comparable with the
  /// current scenario. Points that were stopped do not count: they had already taken longer than
  /// another.
  [[nodiscard]] std::optional<std::int64_t> best_tried(Compared compared);
  /// Explores around the best setting and decides whether it is advised. If it would be slower than
  /// the current one on a cluster with better or worse links, continues with the next best. Returns
  /// false if interrupted.
  core::Expected<bool> judge_the_best();
  /// Simulates the best again, with everything that a report needs. Returns false if interrupted.
  core::Expected<bool> tell_of_best();
  /// Tries the rows that are not comparable, with all other fields as in the best; one for each
  /// value of the axis' first field. Finds out whether they seem to be faster. Returns false if
  /// interrupted.
  core::Expected<bool> try_others();
  /// Finds the fastest setting that is not comparable, if it seems to be faster than the
  /// recommended one.
  void find_rival();
  void say_why_there_is_no_best();

  /// Returns the range of positions in `order` around the best along an axis, as many as there are
  /// evaluations for.
  std::pair<std::int64_t, std::int64_t> around_best(std::size_t axis,
                                                    const std::vector<std::int64_t>& order,
                                                    std::int64_t at);
  /// Evaluates some values on each side of the best, along every ordered axis; repeats that around
  /// a value that is better still. Returns false if interrupted.
  core::Expected<bool> add_curves();
  core::Expected<bool> add_curve(std::size_t axis, const std::vector<std::int64_t>& order);
  /// Evaluates both settings on clusters with better and worse links. Returns false if interrupted.
  core::Expected<bool> add_sensitivity();
  /// Returns the step time on a cluster with other links; 0 if it cannot be simulated.
  core::Expected<core::Time> elsewhere(const core::Scenario& scenario, core::Scaled scaled,
                                       double factor);
  /// Returns a cluster on which the best is slower than the current setting by more than the error
  /// of such a difference. If different programs move the bytes in the two, links are not
  /// considered: NCCL's times do not depend on them.
  [[nodiscard]] const Sensitivity* lost_case() const;
  /// Makes the snippets for the recommended setting and simulates each with the packing by its own
  /// framework. Returns false if interrupted.
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
  std::optional<ComparablePoints> comparable_;  ///< relative to the current scenario
  ComparablePoints::Rows rows_;
  std::set<std::string> rejected_;  ///< keys of rejected points (key_of())
  std::array<std::optional<core::Time>, kCases> now_elsewhere_;
  bool any_slow_ = false;  ///< true: a comparable point was stopped because it was slow
  std::optional<std::int64_t> best_;
  std::vector<std::pair<std::size_t, std::vector<std::int64_t>>> curve_axes_;
};

}  // namespace tutti::tools
