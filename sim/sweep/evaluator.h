#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/edit/overrides.h"
#include "core/explore/outcome.h"
#include "core/explore/plan_key.h"
#include "core/scenario/executor.h"
#include "core/scenario/library.h"
#include "sim/sweep/affordable.h"
#include "sim/sweep/base_scenario.h"

namespace tutti::sim {

/// The outcome's message for a point that was skipped because its simulation would take too long.
inline constexpr const char* kTooLong =
    "not tried, because the simulation takes long with this many devices; use tutti sweep";

/// Returns the outcome of a point whose simulation has run out of memory.
core::Outcome out_of_memory();

/// Simulates a scenario at many points, that is, with different values of its fields. Different
/// values of a setting that only decides the packing, such as bytes_per_pack, often result in the
/// same packs. Points that differ only in such settings, and have the same packs, share one
/// simulation. Thread-safe.
class Evaluator {
 public:
  enum class Shares { kYes, kNo };
  /// If `shares` is kNo, points do not share simulations: every point is simulated. REQUIRES:
  /// `library` and `executor` outlive this object; `executor` has no state.
  Evaluator(BaseScenario base, const core::Library& library, core::Executor& executor,
            Shares shares = Shares::kYes);
  /// Sets a limit on the work of one point. From now on, points that need more than `work` are not
  /// simulated; the message of their outcomes is kTooLong.
  void limit_work(const MostWork& work) { max_work_ = work; }

  /// From now on, at() simulates every point once with each of these overrides of run.seed.
  void over_seeds(std::vector<core::Override> seeds) { seeds_ = std::move(seeds); }
  [[nodiscard]] const std::vector<core::Override>& seeds() const { return seeds_; }

  /// Runs the scenario with these changes and returns the outcome. With several seeds, returns the
  /// outcome of the seed with the median step time. (If the number of seeds is even, the median is
  /// the lower of the two middle values.) If some outcomes are not kDone, returns the first of
  /// these instead. If the changed scenario is invalid, the outcome contains the error. Returns
  /// nullopt if `cancel` was set during the simulation. If training steps take longer than
  /// `max_step_time` on average, the simulation stops early, and the outcome states this. If there
  /// is not enough memory, returns out_of_memory().
  std::optional<core::Outcome> at(const std::vector<core::Override>& changes,
                                  const std::atomic<bool>* cancel = nullptr,
                                  core::Time max_step_time = core::kNever);
  /// Returns the outcome with each seed, in the order of seeds(). Ends at the first outcome that is
  /// not kDone. Returns nullopt if `cancel` was set. REQUIRES: there are seeds.
  std::optional<std::vector<core::Outcome>> at_each_seed(const std::vector<core::Override>& changes,
                                                         const std::atomic<bool>* cancel = nullptr,
                                                         core::Time max_step_time = core::kNever);

  /// Returns the files that scenarios have read since the last call. Each file occurs once.
  std::vector<core::Library::File> new_files();
  /// Returns the number of simulations. Points that share a simulation count once. If points are
  /// simulated with several seeds, each seed counts.
  [[nodiscard]] std::int64_t simulated() const;

 private:
  using Key = std::pair<std::string, core::PlanKey>;
  /// Runs the scenario once. Throws std::bad_alloc if there is not enough memory.
  std::optional<core::Outcome> simulate(const std::vector<core::Override>& changes,
                                        const std::atomic<bool>* cancel, core::Time max_step_time);
  std::optional<core::Outcome> once(const std::vector<core::Override>& changes,
                                    const std::atomic<bool>* cancel, core::Time max_step_time);
  void remember_files(const core::Scenario& scenario);

  BaseScenario base_;
  const core::Library& library_;
  core::Executor& executor_;
  Shares shares_;
  std::optional<MostWork> max_work_;
  std::vector<core::Override> seeds_;

  mutable std::mutex mutex_;  ///< guards the fields below
  std::map<Key, core::Outcome> known_;
  std::set<std::pair<core::Library::Kind, std::string>> seen_files_;
  std::vector<core::Library::File> new_files_;
  std::int64_t simulated_ = 0;
};

/// Returns the index of the outcome with the median step time; with an even number of outcomes, the
/// lower of the two in the middle. REQUIRES: at least one outcome.
std::size_t median_seed(const std::vector<core::Outcome>& outcomes);

}  // namespace tutti::sim
