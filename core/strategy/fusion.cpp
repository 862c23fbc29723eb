#include "core/strategy/fusion.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace tutti::core {

Fusion fusion_of(const Horovod& horovod, const Workload& workload, const Cluster& cluster) {
  const auto workers = static_cast<std::uint64_t>(cluster.workers());
  const int rounds = static_cast<int>(workers > 1 ? std::bit_width(workers - 1) : 0);
  const Time latency = cluster.network() ? cluster.network()->latency : Time();
  const Time both_ways = 2 * rounds * latency;
  Fusion fusion;
  fusion.threshold = horovod.fusion_threshold;
  fusion.cycle = horovod.cycle;
  fusion.agreement = 2 * both_ways;
  fusion.first_agreement = 3 * both_ways;
  fusion.cached = std::ssize(workload.gradients) <= horovod.cache_capacity;
  if (horovod.cache_capacity == 0) fusion.agreement = fusion.first_agreement = both_ways;
  return fusion;
}

std::optional<StrategyProblem> problem_of_fusion(const Strategy& strategy,
                                                 const std::vector<Communicator>& communicators) {
  if (!strategy.framework || !std::holds_alternative<Horovod>(*strategy.framework)) return std::nullopt;
  const Algorithm a = strategy.algorithm;
  const bool good = a == Algorithm::kRing || a == Algorithm::kNccl || a == Algorithm::kHalvingDoubling ||
                    a == Algorithm::kRecursiveDoubling || a == Algorithm::kDoubleTree || a == Algorithm::kNcclRing ||
                    a == Algorithm::kNcclHalvingDoubling || a == Algorithm::kNcclDoubleTree;
  if (!good)
    return StrategyProblem{"horovod", fmt::format("reduces by NCCL, MPI or Gloo, never by {}; take nccl, ring, "
                                                  "halving_doubling, recursive_doubling, double_tree, nccl/ring, "
                                                  "nccl/halving_doubling or nccl/double_tree",
                                                  to_string(a))};
  if (strategy.compression && strategy.compression->of_packs)
    return StrategyProblem{"compression", "Horovod compresses gradients, not packs; take of: GRADIENTS"};
  if (std::any_of(communicators.begin(), communicators.end(), [](const Communicator& c) { return c.splits_model; }))
    return StrategyProblem{"horovod",
                           "replicas that are in groups (splits_model) are not fused in cycles; take another packing"};
  return std::nullopt;
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
