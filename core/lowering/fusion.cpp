#include "core/lowering/fusion.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::core {

std::string describe_fused(const Plan& plan,
                           const std::map<std::int32_t, std::vector<Bytes>>& sizes) {
  const auto in_words = [](const std::vector<Bytes>& list) {
    constexpr std::size_t kMax = 12;
    std::string text;
    for (std::size_t i = 0; i < std::min(kMax, list.size()); ++i)
      text +=
          fmt::format("{}{:.3g}", i == 0 ? "" : ", ", static_cast<double>(list[i].count()) / 1e6);
    return text + (list.size() > kMax ? ", … MB" : " MB");
  };
  const auto [fewest, most] = std::minmax_element(
      sizes.begin(), sizes.end(),
      [](const auto& a, const auto& b) { return a.second.size() < b.second.size(); });
  const std::size_t least = fewest->second.size(), greatest = most->second.size();
  const auto gradients = std::count_if(plan.packs.begin(), plan.packs.end(), [](const Pack& pack) {
    return pack.phase == PackPhase::kGradients;
  });
  const auto& last = *sizes.rbegin();
  return fmt::format(
      "{} gradients were fused into {} all-reduces per step; sizes of the all-reduces of step {}: "
      "{}",
      gradients,
      least == greatest ? std::to_string(least) : fmt::format("{} to {}", least, greatest),
      last.first, in_words(last.second));
}

}  // namespace tutti::core
