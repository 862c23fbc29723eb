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

/// The text of the outcome of a point that is skipped because it takes too long to simulate.
inline constexpr const char* kTooLong =
    "not tried, because the simulation takes long with this many devices; use tutti sweep";

/// Runs a scenario repeatedly, each time with different values of its fields. Values that result in
/// the same packs are simulated only once, because most pack sizes give the same packs as another
/// size. Thread-safe.
class Evaluator {
 public:
  enum class Shares { kYes, kNo };
  /// `shares`: kNo simulates every point. REQUIRES: `library` and `executor` outlive this object;
  /// `executor` is stateless.
  Evaluator(BaseScenario base, const core::Library& library, core::Executor& executor,
            Shares shares = Shares::kYes);
  /// Sets a limit on the work of later scenarios. A scenario that takes more than `work` is not
  /// simulated, and its outcome is kTooLong.
  void limit_work(const MostWork& work) { max_work_ = work; }

  /// Returns the outcome of the scenario with these changes. The outcome may be an error in the
  /// scenario. Returns nullopt if `cancel` was set during the simulation. Stops the simulation
  /// early if its training steps take longer than `max_step_time` on average, and records this in
  /// the outcome.
  std::optional<core::Outcome> at(const std::vector<core::Override>& changes,
                                  const std::atomic<bool>* cancel = nullptr,
                                  core::Time max_step_time = core::kNever);

  /// Returns the files that scenarios have read since the last call, each file once.
  std::vector<core::Library::File> new_files();
  /// Returns the number of points that were simulated. All other points have the outcome of a point
  /// with the same packs.
  [[nodiscard]] std::int64_t simulated() const;

 private:
  using Key = std::pair<std::string, core::PlanKey>;
  void remember_files(const core::Scenario& scenario);

  BaseScenario base_;
  const core::Library& library_;
  core::Executor& executor_;
  Shares shares_;
  std::optional<MostWork> max_work_;

  mutable std::mutex mutex_;  ///< guards the fields below
  std::map<Key, core::Outcome> known_;
  std::set<std::pair<core::Library::Kind, std::string>> seen_files_;
  std::vector<core::Library::File> new_files_;
  std::int64_t simulated_ = 0;
};

}  // namespace tutti::sim
