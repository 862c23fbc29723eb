#include "core/strategy/fusion.h"

#include <algorithm>
#include <list>
#include <numeric>

#include <fmt/format.h>

#include "core/strategy/algorithm_table.h"

namespace tutti::core {

std::vector<std::vector<int>> fused(const std::vector<ReadyPack>& ready, Bytes threshold) {
  std::list<int> left(ready.size());
  std::iota(left.begin(), left.end(), 0);
  const auto of = [&](int i) -> const ReadyPack& { return ready[static_cast<std::size_t>(i)]; };
  std::vector<std::vector<int>> groups;
  while (!left.empty()) {
    std::vector<int>& group = groups.emplace_back(1, left.front());
    left.pop_front();
    Bytes taken = of(group.front()).bytes, passed_over;
    for (auto next = left.begin(); next != left.end();) {
      const ReadyPack& pack = of(*next);
      if (!pack.alone && !of(group.front()).alone && pack.type == of(group.front()).type &&
          taken + pack.bytes <= threshold) {
        taken += pack.bytes;
        group.push_back(*next);
        next = left.erase(next);
        continue;
      }
      passed_over += pack.bytes;
      if (taken + passed_over > threshold) break;
      ++next;
    }
  }
  return groups;
}

std::string describe_fused(const Plan& plan, const std::map<std::int32_t, std::vector<Bytes>>& sizes) {
  const auto in_words = [](const std::vector<Bytes>& list) {
    constexpr std::size_t kMost = 12;
    std::string text;
    for (std::size_t i = 0; i < std::min(kMost, list.size()); ++i)
      text += fmt::format("{}{:.3g}", i == 0 ? "" : ", ", static_cast<double>(list[i].count()) / 1e6);
    return text + (list.size() > kMost ? ", … MB" : " MB");
  };
  const auto [fewest, most] = std::minmax_element(
      sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const std::size_t least = fewest->second.size(), greatest = most->second.size();
  const auto gradients = std::count_if(plan.packs.begin(), plan.packs.end(),
                                       [](const Pack& pack) { return pack.phase == PackPhase::kGradients; });
  const auto& last = *sizes.rbegin();
  return fmt::format("{} gradients were fused into {} all-reduces a step; those of step {}: {}", gradients,
                     least == greatest ? std::to_string(least) : fmt::format("{} to {}", least, greatest), last.first,
                     in_words(last.second));
}

}  // namespace tutti::core
