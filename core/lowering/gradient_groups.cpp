#include "core/lowering/gradient_groups.h"

#include "core/packing/aggregate_small.h"
#include "core/packing/bytes_per_pack.h"
#include "core/packing/concat_and_split.h"

namespace tutti::core {

std::vector<std::vector<int>> small_groups(const Workload& workload, const Strategy& strategy) {
  std::vector<SmallGradient> gradients;
  for (const Variable& g : workload.gradients) gradients.push_back({g.elements, g.type});
  return aggregate_small(gradients, strategy.agg_small_grads_max_bytes,
                         strategy.agg_small_grads_max_group, strategy.agg_small_grads_exact_group);
}

std::vector<std::vector<int>> groups_by_bytes(const Workload& workload, Bytes bytes_per_pack) {
  const int count = static_cast<int>(workload.gradients.size());
  std::vector<std::optional<Bytes>> sizes;
  for (int i = count - 1; i >= 0; --i) sizes.emplace_back(workload.gradients[i].bytes());
  std::vector<std::vector<int>> packs = pack_by_bytes(sizes, bytes_per_pack);
  for (std::vector<int>& pack : packs) {
    for (int& i : pack) i = count - 1 - i;
  }
  return packs;
}

std::vector<std::vector<int>> groups_by_count(const Workload& workload, int chunks) {
  std::vector<std::vector<int>> packs;
  int next = static_cast<int>(workload.gradients.size()) - 1;
  std::vector<std::int64_t> sizes = chunk_by_count(std::ssize(workload.gradients), chunks);
  for (auto size = sizes.rbegin(); size != sizes.rend(); ++size) {
    packs.emplace_back();
    for (std::int64_t i = 0; i < *size; ++i) packs.back().push_back(next--);
  }
  return packs;
}

}  // namespace tutti::core
