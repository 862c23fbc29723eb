#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/plan/gate/gate.h"
#include "core/strategy/plan.h"

namespace tutti::core {

/// The gate that packs of a plan pass before they start, if there is one: Plan::credit's or Plan::fusion's. Its items are the plan's
/// packs.
class PlanGate {
 public:
  /// How long the rounds of its gates take, where they have some.
  struct Rounds {
    Time cycle;
    std::optional<Time> idle;  ///< as in CycleGate::Options
  };

  /// REQUIRES: the plan outlives it.
  explicit PlanGate(const Plan& plan);

  [[nodiscard]] bool any() const { return items_ != nullptr; }
  /// The pack passes the gate.
  [[nodiscard]] bool holds(int pack) const { return any() && (*items_)[static_cast<std::size_t>(pack)].passes; }
  /// REQUIRES: any().
  [[nodiscard]] GateScope scope() const { return plan_->credit ? GateScope::kWorker : GateScope::kAll; }
  [[nodiscard]] std::unique_ptr<Gate> make(GateMembers members, const Rounds& rounds) const;

 private:
  const Plan* plan_;
  GateItems items_;  ///< by pack; null if there is no gate
};

}  // namespace tutti::core
