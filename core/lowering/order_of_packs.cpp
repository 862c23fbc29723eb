#include "core/lowering/order_of_packs.h"

#include "core/strategy/collective_keys.h"

namespace tutti::core {
namespace {

/// Assigns instance keys to the gradients, in the order in which TensorFlow passes them to its
/// runtime. A pack of several gradients has the key of its first member.
void give_keys(Plan& plan) {
  CollectiveKeys keys;
  for (Pack& pack : plan.packs) {
    pack.payload.instance_key = keys.op();
    for (std::size_t member = 1; member < pack.payload.members.size(); ++member)
      static_cast<void>(keys.op());
  }
}

void sort_by_keys(Plan& plan) {
  std::vector<std::int64_t> keys;
  for (const Pack& pack : plan.packs) keys.push_back(pack.payload.instance_key);
  std::vector<Pack> sorted;
  for (const int i : launch_order(keys)) sorted.push_back(std::move(plan.packs[i]));
  plan.packs = std::move(sorted);
}

}  // namespace

void set_launch_order(const Strategy& strategy, Plan& plan) {
  const bool descending = strategy.launch_order == LaunchOrder::kDescendingKeys ||
                          (strategy.launch_order == LaunchOrder::kByPacking &&
                           !strategy.bytes_per_pack && strategy.num_packs == 0);
  if (strategy.instance_keys || descending) give_keys(plan);
  if (strategy.launch != Launch::kSerial || plan.fuses()) return;
  if (descending) sort_by_keys(plan);
  for (int i = 1; i < static_cast<int>(plan.packs.size()); ++i) plan.packs[i].after = i - 1;
}

}  // namespace tutti::core
