#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/plan/gate/gate_rule.h"

namespace tutti::core {

/// A gate that models BytePS's scheduled queue of one worker: it starts items in the order of their
/// priority, as long as the bytes in flight do not exceed a credit.
///
/// An item that is ready on all replicas of the worker starts if its bytes do not exceed the
/// remaining credit. The item with the lowest priority value starts first; among equal values, the
/// item of the earliest step. If an item is too large for the remaining credit, later items may
/// start before it. The gate returns an item's bytes to the credit when the item is complete on all
/// replicas of the worker. SOURCE: byteps/common/scheduled_queue.cc. (BytePS returns the credit one
/// stage earlier, before the copies to the CPU.)
class CreditGate final : public Gate {
 public:
  CreditGate(GateItems items, Bytes credit, GateMembers members)
      : items_(std::move(items)), members_(members), credit_(credit) {}

  std::vector<GateDecision> ready(const GateRequest& request, Time now) override;
  std::vector<GateDecision> done(const GateRequest& request) override;
  /// Visits the credit. The state can be compared only while no item is waiting or in flight, for
  /// example between steps.
  void visit_state(StateVisitor& visitor) override;

 private:
  /// The order in which items start: priority, step, item.
  using StartOrder = std::tuple<std::int64_t, std::int32_t, std::int32_t>;
  using Key = std::pair<std::int32_t, std::int32_t>;  ///< step and item

  [[nodiscard]] const GateItem& item(std::int32_t i) const { return (*items_)[i]; }
  std::vector<GateDecision> start();

  GateItems items_;
  GateMembers members_;
  Bytes credit_;  ///< remaining credit
  /// The number of replicas on which the item is ready, or complete. The item's entry is erased
  /// when the number reaches the number of replicas of the worker.
  std::map<Key, std::int64_t> ready_, done_;
  std::set<StartOrder> waiting_;
};

/// The rule that gives every worker its own CreditGate.
class CreditRule final : public GateRule {
 public:
  explicit CreditRule(Bytes credit) : credit_(credit) {}

  [[nodiscard]] GateScope scope() const override { return GateScope::kWorker; }
  [[nodiscard]] std::unique_ptr<Gate> make(GateItems items, GateMembers members,
                                           const GateRounds&) const override {
    return std::make_unique<CreditGate>(std::move(items), credit_, members);
  }
  [[nodiscard]] std::string starts_when() const override;
  [[nodiscard]] std::string_view name() const override { return "credit"; }
  [[nodiscard]] std::vector<std::int64_t> settings() const override { return {credit_.count()}; }

 private:
  Bytes credit_;  ///< limit on a worker's bytes in flight
};

}  // namespace tutti::core
