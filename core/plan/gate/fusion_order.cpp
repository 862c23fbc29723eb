#include "core/plan/gate/fusion_order.h"

#include <algorithm>
#include <list>
#include <numeric>
#include <tuple>
#include <utility>

namespace tutti::core {

std::vector<std::vector<int>> fused(const std::vector<GateItem>& ready, Bytes threshold) {
  std::list<int> left(ready.size());
  std::iota(left.begin(), left.end(), 0);
  const auto of = [&](int i) -> const GateItem& { return ready[i]; };
  std::vector<std::vector<int>> groups;
  while (!left.empty()) {
    std::vector<int>& group = groups.emplace_back(1, left.front());
    left.pop_front();
    Bytes taken = of(group.front()).bytes, passed_over;
    for (auto next = left.begin(); next != left.end();) {
      const GateItem& item = of(*next);
      if (!item.alone && !of(group.front()).alone && item.kind == of(group.front()).kind &&
          taken + item.bytes <= threshold) {
        taken += item.bytes;
        group.push_back(*next);
        next = left.erase(next);
        continue;
      }
      passed_over += item.bytes;
      if (taken + passed_over > threshold) break;
      ++next;
    }
  }
  return groups;
}

std::vector<std::vector<std::int32_t>> FusionOrder::cycle(std::vector<Arrival> arrivals) {
  const auto last_use = [this](const Arrival& a) -> std::int64_t& { return last_use_[a.item]; };
  // Cached items come first. Two cached items never have equal values in last_use_.
  const auto key = [&](const Arrival& a) {
    const bool cached = last_use(a) != kNever;
    return std::tuple(!cached, last_use(a), cached ? 0 : a.order, a.item);
  };
  std::sort(arrivals.begin(), arrivals.end(),
            [&](const Arrival& a, const Arrival& b) { return key(a) < key(b); });
  const bool all_cached = std::all_of(arrivals.begin(), arrivals.end(),
                                      [&](const Arrival& a) { return last_use(a) != kNever; });

  std::vector<GateItem> ready;
  for (const Arrival& a : arrivals) ready.push_back((*items_)[a.item]);
  std::vector<std::vector<std::int32_t>> batches;
  for (const std::vector<int>& group : fused(ready, threshold_)) {
    std::vector<std::int32_t>& items = batches.emplace_back();
    for (const int i : group) items.push_back(arrivals[i].item);
  }
  if (!cached_) return batches;
  // A cached item counts as used when it is looked up. A new item counts as used when it is
  // inserted into the cache, after all ranks have received the fused responses.
  if (all_cached) {
    for (const Arrival& a : arrivals) last_use(a) = uses_++;
  } else {
    for (const std::vector<std::int32_t>& items : batches) {
      for (const std::int32_t item : items) last_use_[item] = uses_++;
    }
  }
  return batches;
}

}  // namespace tutti::core
