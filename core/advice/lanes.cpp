#include "core/advice/lanes.h"

namespace tutti::core {

int lanes_of(const Scenario& scenario, const Pack& pack) {
  Strategy strategy = strategy_of(scenario.strategy, pack);
  strategy.reduction = Reduction::kSum;
  const Collective& whole = scenario.plan.collective(pack);
  const Collective sum =
      scenario.plan.partition
          ? make_collective(*scenario.cluster, strategy, whole.type, whole.elements, 0,
                            *scenario.plan.partition)
          : make_collective(*scenario.cluster, strategy, whole.type, whole.elements, 0);
  return sum.schedule->lanes(0);
}

}  // namespace tutti::core
