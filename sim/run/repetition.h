#pragma once

// Without disturbances, training steps become identical. Suppose that no collective is in flight
// when the last replica begins a step, so that all links and engines are free. The rest of the step
// then depends only on how much earlier each of the other replicas began the step. If these times
// are the same in two consecutive steps, all later steps are identical to the first of them,
// shifted in time. Such steps are recorded without being simulated.

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
  /// The state of the simulation at the beginning of a step, and the records of this step.
  struct Step {
    /// For each replica, the time from its own beginning of the step until the last replica began
    /// the step.
    std::vector<core::Time> began;
    core::Time at;                         ///< time at which the last replica began the step
    std::vector<core::PackRecord> packs;   ///< packs recorded since `at`
    std::optional<core::StepRecord> step;  ///< the step recorded since `at`
    LinkLoads::Totals carried;             ///< bytes that each link has carried until `at`
    std::vector<core::Wide> exchanged;     ///< total time that each exchange (a collective during
                                           ///< computation) has taken until `at`
    std::vector<std::int64_t> gates;       ///< state of gates (Gates::visit_state)
  };

  /// Returns true if training steps may become identical, because nothing in the scenario depends
  /// on the absolute time or on random numbers. Gates, which decide when packs start
  /// (core/plan/gate/gate.h), are not checked here, because their state is part of Step.
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

  /// Must be called at the beginning of a step, when the previous step has ended. `next` contains
  /// the state at the beginning of the new step, without records. If the new step and all later
  /// steps are identical to the previous step, returns the previous step; otherwise returns null.
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
  /// Records that all remaining steps are repetitions. `later` is their total time.
  void repeat(core::Time later) {
    repeats_ = true;
    later_ = later;
  }
  [[nodiscard]] bool repeats() const { return repeats_; }
  /// Returns the total time of all steps that were not simulated.
  [[nodiscard]] core::Time later() const { return later_; }

  /// Must be called if the state at the beginning of the current step does not determine the rest
  /// of the step, because steps overlap, or if this state cannot be compared.
  void cannot_tell() {
    begun_.reset();
    since_ = {};
  }

 private:
  bool repeats_ = false;
  core::Time later_;
  std::optional<Step> begun_;  ///< the last step, if no collective was in flight when it began
  struct {
    std::vector<core::PackRecord> packs;
    std::optional<core::StepRecord> step;
  } since_;
};

}  // namespace tutti::sim
