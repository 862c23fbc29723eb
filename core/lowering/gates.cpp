#include "core/lowering/gates.h"

#include <map>
#include <utility>

namespace tutti::core {

namespace {

/// Returns the priority of each pack. Packs of variables that were created earlier start first; the
/// partitions of one variable start in their order in the variable.
std::vector<std::int64_t> priorities(const Plan& plan) {
  std::map<std::pair<int, std::int64_t>, std::int64_t> places;
  const auto first = [](const Pack& pack) {
    return pack.payload.members.empty() ? std::pair(-1, std::int64_t{0})
                                        : std::pair(pack.payload.members.front().variable,
                                                    pack.payload.members.front().first);
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
  if (!plan.gate) return;
  const std::vector<std::int64_t> priority = priorities(plan);
  std::vector<GateItem> items;
  for (std::size_t p = 0; p < plan.packs.size(); ++p) {
    const Pack& pack = plan.packs[p];
    const Collective& collective = plan.collective(pack);
    items.push_back({collective.bytes(), priority[p], static_cast<int>(collective.type),
                     collective.kind != CollectiveKind::kAllReduce, plan.passes_gate(pack)});
  }
  items_ = std::make_shared<const std::vector<GateItem>>(std::move(items));
}

}  // namespace tutti::core
