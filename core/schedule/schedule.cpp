#include "core/schedule/schedule.h"

namespace tutti::core {

void Schedule::visit_ways(Rank rank, Lane lane,
                          const std::function<void(const Step&)>& visit) const {
  const std::int64_t count = steps(rank, lane);
  for (std::int64_t i = 0; i < count; ++i) {
    const Step at = step(rank, lane, i);
    if (sends(at.kind) || at.kind == StepKind::kSwitchReduce) visit(at);
  }
}

}  // namespace tutti::core
