#include "core/lowering/plan_check.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::core {

PlanView view_of(const StepPrograms& programs, const Plan& plan) {
  PlanView view;
  for (std::size_t g = 0; g < programs.groups(); ++g) {
    const Program* program = &programs.program(g).program;
    const auto known =
        std::any_of(view.roles.begin(), view.roles.end(),
                    [&](const PlanView::Role& role) { return role.program == program; });
    if (!known) view.roles.push_back({program, fmt::format("a worker of group {}", g)});
  }
  std::vector<std::int32_t> all;
  for (std::int32_t r = 0; r < std::ssize(view.roles); ++r) all.push_back(r);

  // Gates start packs in the same order on all replicas. In BytePS, the root of a worker tells the
  // other GPUs which collective is next.
  const bool is_gated =
      plan.gate || std::any_of(plan.packs.begin(), plan.packs.end(),
                               [](const Pack& pack) { return pack.answers >= 0; });
  view.communicators.push_back({"gradients", all, !is_gated});
  for (const PlannedExchange& exchange : plan.exchanges) {
    const auto c = static_cast<std::size_t>(exchange.communicator) + 1;
    while (view.communicators.size() <= c)
      view.communicators.push_back({fmt::format("{}", view.communicators.size() - 1), all, true});
  }
  const auto by_keys = static_cast<std::int32_t>(view.communicators.size());
  view.communicators.push_back({"gradients, by keys", all, false});
  view.use = [&plan, by_keys](std::int32_t, const Task& task) -> PlanView::Use {
    if (task.pack < 0) return {plan.exchanges[task.index].communicator + 1, task.index};
    const Collective& collective = plan.collective(plan.packs[task.pack]);
    return {collective.nccl || collective.parts ? 0 : by_keys, task.pack};
  };
  return view;
}

}  // namespace tutti::core
