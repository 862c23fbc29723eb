#pragma once

// Without disturbances, training steps repeat. If no collective is in flight when the last replica
// begins a step, every link, engine and device is free, and computation takes the same time in each
// step. The rest of the step then depends only on the time since each replica began the step. If
// the replicas begin two consecutive steps at the same times relative to the last replica, all
// later steps repeat the first of these steps, shifted in time. Repeated steps are recorded without
// being simulated.

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

class Repetition {
 public:
  /// The state at the beginning of a step, and the records of that step.
  struct Step {
    /// Indexed by replica: how much earlier the replica began the step than the last replica.
    std::vector<core::Time> began;
    core::Time at;                         ///< time at which the last replica began the step
    std::vector<core::PackRecord> packs;   ///< packs recorded since `at`
    std::optional<core::StepRecord> step;  ///< the step recorded since `at`
    LinkLoads::Totals carried;             ///< by link: bytes carried until `at`
    std::vector<core::Wide> exchanged;     ///< by exchange: totals until `at`
    std::vector<std::int64_t> gates;       ///< state of gates (Gates::visit_state)
  };

  /// Returns true if training steps of the scenario may repeat, because the scenario depends
  /// neither on the absolute time nor on random numbers. (Gates are checked separately, because
  /// their state is part of Step.)
  static bool is_possible(const core::Scenario& scenario) {
    const core::Conditions& conditions = scenario.run.conditions;
    for (const core::SlowDevices& slow : conditions.slow) {
      if (slow.from > core::Time() || slow.to < core::kNever) return false;
    }
    for (const core::PlannedCollective& collective : scenario.plan.collectives) {
      if (!collective.is_fixed()) return false;
    }
    return scenario.plan.checkpoint_every == 0 && scenario.run.compute_jitter_ppm == 0 &&
           conditions.compute_noise.kind == core::Noise::Kind::kNone && conditions.links.empty() &&
           conditions.background.empty() && conditions.gone.empty();
  }

  void tell(const core::PackRecord& pack) { since_.packs.push_back(pack); }
  void tell(const core::StepRecord& step) { since_.step = step; }

  /// Begins a step after the previous step has ended. `next` is the state at the beginning of the
  /// new step, without records. Returns the previous step if the new step and all later steps
  /// repeat it; otherwise returns null.
  const Step* begin(Step next) {
    next.packs.clear();
    next.step.reset();
    const bool repeats =
        begun_ && since_.step && next.began == begun_->began && next.gates == begun_->gates;
    if (repeats) {
      begun_->packs = std::move(since_.packs);
      begun_->step = std::move(since_.step);
      return &*begun_;
    }
    since_ = {};
    begun_ = std::move(next);
    return nullptr;
  }
  /// Records that all remaining steps are repetitions, which take the time `later` together.
  void repeat(core::Time later) {
    repeats_ = true;
    later_ = later;
  }
  [[nodiscard]] bool repeats() const { return repeats_; }
  /// Returns the time between the last simulated step and the last step of the run.
  [[nodiscard]] core::Time later() const { return later_; }

  /// Records that steps overlap, so that the state at the beginning of a step does not determine
  /// the rest of the step.
  void cannot_tell() {
    begun_.reset();
    since_ = {};
  }

 private:
  bool repeats_ = false;
  core::Time later_;
  std::optional<Step> begun_;  ///< the last step that began while no collective was in flight
  struct {
    std::vector<core::PackRecord> packs;
    std::optional<core::StepRecord> step;
  } since_;
};

}  // namespace tutti::sim
