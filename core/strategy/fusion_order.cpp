#include "core/strategy/fusion_order.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include "core/strategy/fusion.h"

namespace tutti::core {

std::vector<std::vector<int>> FusionOrder::cycle(std::vector<Arrival> arrivals) {
  const auto last_use = [this](const Arrival& a) -> std::int64_t& {
    return last_use_[static_cast<std::size_t>(a.pack)];
  };
  // Cached packs come first; among themselves they have different last uses.
  const auto key = [&](const Arrival& a) {
    const bool cached = last_use(a) != kNever;
    return std::tuple(!cached, last_use(a), cached ? 0 : a.last_rank, cached ? 0 : a.place, a.pack);
  };
  std::sort(arrivals.begin(), arrivals.end(), [&](const Arrival& a, const Arrival& b) { return key(a) < key(b); });
  const bool all_cached =
      std::all_of(arrivals.begin(), arrivals.end(), [&](const Arrival& a) { return last_use(a) != kNever; });

  std::vector<ReadyPack> ready;
  for (const Arrival& a : arrivals) {
    const Collective& c = plan_->packs[static_cast<std::size_t>(a.pack)].collective;
    ready.push_back({c.bytes(), c.type, c.kind != CollectiveKind::kAllReduce});
  }
  std::vector<std::vector<int>> groups;
  for (const std::vector<int>& group : fused(ready, plan_->fusion->threshold)) {
    std::vector<int>& packs = groups.emplace_back();
    for (const int i : group) packs.push_back(arrivals[static_cast<std::size_t>(i)].pack);
  }
  if (!plan_->fusion->cached) return groups;
  // Hits are used when they are looked up. New entries are put in when all ranks have the fused responses.
  if (all_cached) {
    for (const Arrival& a : arrivals) last_use(a) = uses_++;
  } else {
    for (const std::vector<int>& group : groups) {
      for (const int pack : group) last_use_[static_cast<std::size_t>(pack)] = uses_++;
    }
  }
  return groups;
}

}  // namespace tutti::core
