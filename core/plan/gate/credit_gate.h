#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

#include "core/plan/gate/gate_rule.h"

namespace tutti::core {

/// Items start in the order of their priority, as far as a credit of bytes in flight allows: BytePS's scheduled queue of one worker.
///
/// An item that is ready on all replicas of the worker starts if the credit left is no less than its bytes. Of several the one with
/// the lowest priority starts first, then the one of the earliest step. One that is too large is passed over for those behind it. The credit
/// is given back when the item is complete on all the worker's replicas.
/// SOURCE: byteps/common/scheduled_queue.cc. (There it is given back one stage earlier, before the copies to the CPU.)
class CreditGate final : public Gate {
 public:
  CreditGate(GateItems items, Bytes credit, GateMembers members)
      : items_(std::move(items)), members_(members), credit_(credit) {}

  std::vector<GateDecision> ready(const GateRequest& request, Time now) override;
  std::vector<GateDecision> done(const GateRequest& request) override;
  /// Steps are not seen: between steps nothing waits, and the credit is whole.
  void visit_state(StateVisitor& visitor) override;

 private:
  /// Priority, step, item: the order in which items start.
  using Turn = std::tuple<std::int64_t, std::int32_t, std::int32_t>;
  using Key = std::pair<std::int32_t, std::int32_t>;  ///< step and item

  [[nodiscard]] const GateItem& item(std::int32_t i) const { return (*items_)[static_cast<std::size_t>(i)]; }
  std::vector<GateDecision> start();

  GateItems items_;
  GateMembers members_;
  Bytes credit_;                              ///< left
  std::map<Key, std::int64_t> ready_, done_;  ///< on how many replicas, until they are so on all
  std::set<Turn> waiting_;
};

/// Every worker has a CreditGate, which decides alone.
class CreditRule final : public GateRule {
 public:
  explicit CreditRule(Bytes credit) : credit_(credit) {}

  [[nodiscard]] GateScope scope() const override { return GateScope::kWorker; }
  [[nodiscard]] std::unique_ptr<Gate> make(GateItems items, GateMembers members, const GateRounds&) const override {
    return std::make_unique<CreditGate>(std::move(items), credit_, members);
  }
  [[nodiscard]] std::string starts_when() const override;
  [[nodiscard]] std::string_view name() const override { return "credit"; }
  [[nodiscard]] std::vector<std::int64_t> settings() const override { return {credit_.count()}; }

 private:
  Bytes credit_;  ///< of a worker's items in flight
};

}  // namespace tutti::core
