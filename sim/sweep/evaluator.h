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

/// What outcomes say of points that are left out since they take long to simulate.
inline constexpr const char* kTooLong =
    "left out: among so many devices it takes long to simulate; tutti sweep does it";

/// Runs a scenario with fields changed, again and again. Settings that come to the same packs are simulated once: of many
/// pack sizes, most do. To be called from any number of threads.
class Evaluator {
 public:
  enum class Shares { kYes, kNo };
  /// `library` and `executor` outlive it; the latter holds no state.
  Evaluator(BaseScenario base, const core::Library& library, core::Executor& executor, Shares shares = Shares::kYes);
  /// What takes more work is refused with kTooLong.
  void leave_out_beyond(const MostWork& work) { most_work_ = work; }

  /// What the scenario costs with these changes. What is wrong with it is an outcome, too. Nothing if `cancel` was set before it was done.
  /// Once its steps so far, or the one at hand, take longer than `hopeless` on average, it is not simulated to its end, and its outcome says so.
  std::optional<core::Outcome> at(const std::vector<core::Override>& changes, const std::atomic<bool>* cancel = nullptr,
                                  core::Time hopeless = core::kNever);

  /// The files that scenarios named since it was last asked, each once.
  std::vector<core::Library::File> new_files();
  /// How many points were simulated rather than taken from one of the same packs.
  [[nodiscard]] std::int64_t simulated() const;

 private:
  using Key = std::pair<std::string, core::PlanKey>;
  void remember_files(const core::Scenario& scenario);

  BaseScenario base_;
  const core::Library& library_;
  core::Executor& executor_;
  Shares shares_;
  std::optional<MostWork> most_work_;

  mutable std::mutex mutex_;  ///< of what follows
  std::map<Key, core::Outcome> known_;
  std::set<std::pair<core::Library::Kind, std::string>> seen_files_;
  std::vector<core::Library::File> new_files_;
  std::int64_t simulated_ = 0;
};

}  // namespace tutti::sim
