#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/plan/gate/gate_rule.h"

namespace tutti::core {

/// A gate that models BytePS's scheduled queue of one worker. Its items are communications, such as
/// the transfer of a partition. The gate starts items in the order of their priority, as long as
/// the bytes in flight do not exceed a credit.
///
/// An item starts when it is ready on all replicas of the worker and its bytes do not exceed the
/// remaining credit. The item with the lowest priority value starts first. If two items have equal
/// values, the item of the earlier training step starts first. If an item is too large for the
/// remaining credit, later items may start before it. When an item is complete on all replicas of
/// the worker, the gate adds the item's bytes to the credit again. SOURCE:
/// byteps/common/scheduled_queue.cc. (BytePS adds an item's bytes to the credit before the item is
/// copied to the CPU. This gate adds them after the copy.)
class CreditGate final : public Gate {
 public:
  CreditGate(GateItems items, Bytes credit, GateMembers members)
      : items_(std::move(items)), members_(members), credit_(credit) {}

  std::vector<GateDecision> ready(const GateRequest& request, Time now) override;
  std::vector<GateDecision> done(const GateRequest& request) override;
  /// Visits the credit. The gate's state can be compared with another gate's state only while no
  /// item is waiting or in flight, for example between training steps.
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
  /// For each item: the number of replicas on which it is ready (`ready_`) or complete (`done_`).
  /// When all replicas of the worker are counted, the item is erased from the map.
  std::map<Key, std::int64_t> ready_, done_;
  std::set<StartOrder> waiting_;
};

/// The gate rule of BytePS: every worker has its own CreditGate.
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
  Bytes credit_;  ///< maximum number of bytes that a worker may have in flight
};

}  // namespace tutti::core
