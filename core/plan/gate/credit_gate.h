#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/plan/gate/gate_rule.h"

namespace tutti::core {

/// Starts items in the order of their priority while their bytes fit into a credit: BytePS's
/// scheduled queue of one worker.
///
/// An item that is ready on all replicas of the worker starts if its bytes do not exceed the
/// remaining credit. The item with the lowest priority value goes first, then the one of the
/// earliest step. An item that is too large is skipped in favour of those after it. The credit is
/// returned when the item is complete on all replicas of the worker.
/// SOURCE: byteps/common/scheduled_queue.cc. (BytePS returns it one stage earlier, before the
/// copies to the CPU.)
class CreditGate final : public Gate {
 public:
  CreditGate(GateItems items, Bytes credit, GateMembers members)
      : items_(std::move(items)), members_(members), credit_(credit) {}

  std::vector<GateDecision> ready(const GateRequest& request, Time now) override;
  std::vector<GateDecision> done(const GateRequest& request) override;
  /// Visits the credit. Steps are not part of the state: between steps nothing waits, and the
  /// credit is complete.
  void visit_state(StateVisitor& visitor) override;

 private:
  /// The order in which items start: priority, step, item.
  using Turn = std::tuple<std::int64_t, std::int32_t, std::int32_t>;
  using Key = std::pair<std::int32_t, std::int32_t>;  ///< step and item

  [[nodiscard]] const GateItem& item(std::int32_t i) const {
    return (*items_)[static_cast<std::size_t>(i)];
  }
  std::vector<GateDecision> start();

  GateItems items_;
  GateMembers members_;
  Bytes credit_;                              ///< remaining
  std::map<Key, std::int64_t> ready_, done_;  ///< the number of replicas, until it is all of them
  std::set<Turn> waiting_;
};

/// Gives every worker a CreditGate, which decides independently.
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
