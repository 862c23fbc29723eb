#include "core/strategy/gates.h"

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/check.h"
#include "core/plan/gate/credit_gate.h"
#include "core/plan/gate/cycle_gate.h"

namespace tutti::core {

namespace {

/// By pack: the variable created first goes first, and of one the first partition.
std::vector<std::int64_t> priorities(const Plan& plan) {
  std::map<std::pair<int, std::int64_t>, std::int64_t> places;
  const auto first = [](const Pack& pack) {
    return pack.payload.members.empty()
               ? std::pair(-1, std::int64_t{0})
               : std::pair(pack.payload.members.front().variable, pack.payload.members.front().first);
  };
  for (const Pack& pack : plan.packs) places[first(pack)] = 0;
  std::int64_t place = 0;
  for (auto& [key, value] : places) value = place++;
  std::vector<std::int64_t> all;
  for (const Pack& pack : plan.packs) all.push_back(places.at(first(pack)));
  return all;
}

}  // namespace

PlanGate::PlanGate(const Plan& plan) : plan_(&plan) {
  if (!plan.credit && !plan.fusion) return;
  TUTTI_CHECK(!(plan.credit && plan.fusion), "packs pass one gate");
  const std::vector<int> pull_of = answers_to(plan);
  const std::vector<std::int64_t> priority = priorities(plan);
  std::vector<GateItem> items;
  for (std::size_t p = 0; p < plan.packs.size(); ++p) {
    const Pack& pack = plan.packs[p];
    const bool passes = plan.credit ? pull_of[p] >= 0 : pack.phase == PackPhase::kGradients;
    items.push_back({plan.collective(pack).bytes(), priority[p], static_cast<int>(plan.collective(pack).type),
                     plan.collective(pack).kind != CollectiveKind::kAllReduce, passes});
  }
  items_ = std::make_shared<const std::vector<GateItem>>(std::move(items));
}

std::unique_ptr<Gate> PlanGate::make(GateMembers members, const Rounds& rounds) const {
  if (plan_->credit) return std::make_unique<CreditGate>(items_, *plan_->credit, members);
  const CycleGate::Options options{plan_->fusion->threshold, plan_->fusion->cached, rounds.cycle, rounds.idle};
  return std::make_unique<CycleGate>(items_, options, members);
}

}  // namespace tutti::core
