#pragma once

#include <memory>

#include "core/lowering/plan.h"
#include "core/plan/gate/gate.h"

namespace tutti::core {

/// Makes the gates of a plan that has a gate rule (Plan::gate). A gate decides when ready packs may
/// start, and may fuse packs (core/plan/gate/gate.h). The items of a gate are the plan's packs.
class PlanGate {
 public:
  /// REQUIRES: the plan outlives this object.
  explicit PlanGate(const Plan& plan);

  [[nodiscard]] bool any() const { return items_ != nullptr; }
  /// True if the gate decides when the pack starts.
  [[nodiscard]] bool governs(int pack) const { return any() && (*items_)[pack].passes; }
  /// REQUIRES, for this function and the functions below: any() returns true.
  [[nodiscard]] const GateRule& rule() const { return *plan_->gate; }
  [[nodiscard]] GateScope scope() const { return plan_->gate->scope(); }
  [[nodiscard]] std::unique_ptr<Gate> make(GateMembers members, const GateRounds& rounds) const {
    return plan_->gate->make(items_, members, rounds);
  }

 private:
  const Plan* plan_;
  GateItems items_;  ///< the item of each pack; null if there is no gate
};

}  // namespace tutti::core
