#include "core/lowering/order_of_packs.h"

#include "core/strategy/algorithm_table.h"
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

/// True if NCCL executes the packs completely. NCCL executes the collectives of a communicator one
/// after the other, even if the program launches them on different streams. SOURCE: NVIDIA/nccl
/// issue 574 (S. Jeaugey, 2021-09-27): NCCL adds CUDA events, because collectives share the buffers
/// of the communicator.
bool one_at_a_time(const Strategy& strategy) {
  return !strategy.spec && !strategy.custom && !strategy.servers &&
         traits(strategy.algorithm).nccl == NcclPart::kAll;
}

}  // namespace

void set_launch_order(const Strategy& strategy, Plan& plan) {
  const bool descending = strategy.launch_order == LaunchOrder::kDescendingKeys ||
                          (strategy.launch_order == LaunchOrder::kByPacking &&
                           !strategy.bytes_per_pack && strategy.num_packs == 0);
  if (strategy.instance_keys || descending) give_keys(plan);
  if (plan.fuses()) return;
  const int packs = static_cast<int>(plan.packs.size());
  if (strategy.launch != Launch::kSerial) {
    if (!one_at_a_time(strategy)) return;
    for (int i = strategy.nccl_communicators; i < packs; ++i)
      plan.packs[i].after = i - strategy.nccl_communicators;
    return;
  }
  if (descending) sort_by_keys(plan);
  for (int i = 1; i < packs; ++i) plan.packs[i].after = i - 1;
}

}  // namespace tutti::core
