#include "core/lowering/order_of_packs.h"

#include <algorithm>

#include "core/lowering/ready_segments.h"
#include "core/strategy/collective_keys.h"
#include "core/strategy/nccl_communicators.h"

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

void sort(Plan& plan, const std::vector<int>& order) {
  std::vector<Pack> sorted;
  for (const int i : order) sorted.push_back(std::move(plan.packs[i]));
  plan.packs = std::move(sorted);
}

std::vector<int> by_keys(const Plan& plan) {
  std::vector<std::int64_t> keys;
  for (const Pack& pack : plan.packs) keys.push_back(pack.payload.instance_key);
  return launch_order(keys);
}

/// Returns the packs in the order in which their gradients become ready. Packs that become ready
/// together remain in their order.
std::vector<int> as_they_become_ready(const Workload& workload, const Plan& plan) {
  const std::vector<int> segment_of = segments_of_gradients(workload);
  const int after_all = static_cast<int>(workload.segments.size());
  std::vector<int> ready_after, order;
  for (const Pack& pack : plan.packs) {
    order.push_back(static_cast<int>(order.size()));
    ready_after.push_back(pack.needs_all_gradients ? after_all : last_segment(pack, segment_of));
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return ready_after[a] < ready_after[b]; });
  return order;
}

}  // namespace

void set_launch_order(const Strategy& strategy, const Workload& workload, Plan& plan) {
  const bool descending = strategy.launch_order == LaunchOrder::kDescendingKeys ||
                          (strategy.launch_order == LaunchOrder::kByPacking &&
                           !strategy.bytes_per_pack && strategy.num_packs == 0);
  if (strategy.instance_keys || descending) give_keys(plan);
  if (plan.fuses()) return;
  int at_once = static_cast<int>(plan.packs.size());
  if (strategy.launch == Launch::kSerial) {
    if (descending) sort(plan, by_keys(plan));
    at_once = 1;
  } else if (packs_share_communicators(strategy)) {
    // All processes issue the packs of a communicator in the order of the plan.
    sort(plan, as_they_become_ready(workload, plan));
    at_once = strategy.nccl_communicators;
  }
  for (int i = at_once; i < static_cast<int>(plan.packs.size()); ++i)
    plan.packs[i].after = i - at_once;
}

}  // namespace tutti::core
