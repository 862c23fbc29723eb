#pragma once

// Training steps without disturbance repeat. When the last replica begins a step, and no collective
// is in flight, the rest of the step depends only on how long ago each replica began it: every
// link, engine and device is free, and computation takes the same time as always. So if replicas
// begin a step in the same order and at the same distances as in the step before, it and all that
// follow repeat that step, later in time: they are recorded without being simulated.

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
    /// By replica: how long it began before the last replica.
    std::vector<core::Time> began;
    core::Time at;                         ///< when the last replica began the step
    std::vector<core::PackRecord> packs;   ///< packs recorded since `at`
    std::optional<core::StepRecord> step;  ///< the step recorded since `at`
    LinkLoads::Totals carried;             ///< by link: bytes carried until `at`
    std::vector<core::Wide> exchanged;     ///< by exchange: totals until `at`
    std::vector<std::int64_t> gates;       ///< state of gates (Gates::visit_state)
  };

  /// True if steps of the scenario may repeat: nothing depends on the absolute time, or on chance.
  /// (Gates are checked separately: their state is part of a step.)
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

  /// Starts a step; the step before is over. `next` has no records yet. Returns the step before if
  /// this one and all that follow repeat it.
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
  /// All remaining steps are recorded, which together take `later`.
  void repeat(core::Time later) {
    repeats_ = true;
    later_ = later;
  }
  [[nodiscard]] bool repeats() const { return repeats_; }
  /// Returns by how much time the last step is later than the last one simulated.
  [[nodiscard]] core::Time later() const { return later_; }

  /// Steps overlap, so the state at the beginning of this one does not determine the rest.
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
