#pragma once

// Training steps that nothing disturbs repeat. When the last replica begins a step, and no collective is under way, all that
// the step will do follows from how long ago each replica began it: every link, engine and device is free, and computation
// takes what it always takes. So if replicas begin a step in the same order and distance as the one before, it and all that
// follow are that one again, later: they are told, and not simulated.

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
  /// What a step is the repetition of: all that was told of the one before, and what has been counted up to its beginning.
  struct Step {
    std::vector<core::Time> began;         ///< by replica: how long before the last of them
    core::Time at;                         ///< when the last replica began it
    std::vector<core::PackRecord> packs;   ///< told since
    std::optional<core::StepRecord> step;  ///< likewise
    LinkLoads::Totals carried;             ///< by link, up to here
    std::vector<core::Wide> exchanged;     ///< by exchange, up to here
    std::vector<std::int64_t> gates;       ///< state of gates (Gates::visit_state)
  };

  /// Whether steps of the scenario may repeat, as far as gates do (their state is part of a step): nothing depends on the time, or on chance.
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

  /// A step begins, `next` of which knows all but what is told; the one before is over. Answers that one if this and all that
  /// follow repeat it.
  const Step* begin(Step next) {
    next.packs.clear();
    next.step.reset();
    const bool repeats = begun_ && since_.step && next.began == begun_->began && next.gates == begun_->gates;
    if (repeats) {
      begun_->packs = std::move(since_.packs);
      begun_->step = std::move(since_.step);
      return &*begun_;
    }
    since_ = {};
    begun_ = std::move(next);
    return nullptr;
  }
  /// All steps to come are told, `later` altogether.
  void repeat(core::Time later) {
    repeats_ = true;
    later_ = later;
  }
  [[nodiscard]] bool repeats() const { return repeats_; }
  /// How much later the last step is than the last one simulated.
  [[nodiscard]] core::Time later() const { return later_; }

  /// Steps overlap: nothing follows from where this one begins.
  void cannot_tell() {
    begun_.reset();
    since_ = {};
  }

 private:
  bool repeats_ = false;
  core::Time later_;
  std::optional<Step> begun_;  ///< the last that began without anything under way
  struct {
    std::vector<core::PackRecord> packs;
    std::optional<core::StepRecord> step;
  } since_;
};

}  // namespace tutti::sim
