#include "core/strategy/collective_parts.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"

namespace tutti::core {
namespace {

CollectiveParts parts_of(const Collective& whole, const StageGroup& layout,
                         std::vector<CollectiveStage> stages) {
  const Partition workers{layout.replicas(), layout.per_worker, 1};
  CollectiveParts parts{{}, layout};
  std::vector<Stage> between;
  const auto end_of_others = [&] {
    if (between.empty()) return;
    Collective part = whole;
    part.schedule = in_stages(layout, whole.elements, std::exchange(between, {}));
    parts.all.push_back({std::move(part)});
  };
  for (CollectiveStage& one : stages) {
    if (!one.nccl) {
      between.push_back(std::move(one.stage));
      continue;
    }
    TUTTI_CHECK(one.stage.scope == StageScope::kInsideWorkers, "a stage of NCCL's in scope {}",
                static_cast<int>(one.stage.scope));
    end_of_others();
    parts.all.push_back({{Group::of_partition(whole.group.cluster(), workers, 0),
                          std::move(one.stage.schedule), whole.type, one.nccl->elements,
                          Staging::kDirect, layout.per_worker, one.nccl->kind, one.nccl->root},
                         true});
  }
  end_of_others();
  return parts;
}

}  // namespace

std::unique_ptr<Schedule> schedule_of(
    const CollectiveParts& parts, std::int64_t elements,
    const std::function<std::shared_ptr<const Schedule>(const Collective&)>& inside) {
  std::vector<Stage> stages;
  for (const CollectivePart& part : parts.all) {
    std::shared_ptr<const Schedule> own = part.inside_workers ? inside(part.collective) : nullptr;
    stages.push_back({part.inside_workers ? StageScope::kInsideWorkers : StageScope::kEveryone,
                      own ? std::move(own) : part.collective.schedule});
  }
  return in_stages(parts.layout, elements, std::move(stages));
}

void compose(Collective& whole, const StageGroup& layout, std::vector<CollectiveStage> stages) {
  std::vector<Stage> all;
  for (const CollectiveStage& one : stages) all.push_back(one.stage);
  whole.schedule = in_stages(layout, whole.elements, std::move(all));
  const bool any =
      std::any_of(stages.begin(), stages.end(), [](const CollectiveStage& s) { return s.nccl; });
  whole.parts =
      any && layout.per_worker > 1
          ? std::make_shared<const CollectiveParts>(parts_of(whole, layout, std::move(stages)))
          : nullptr;
}

}  // namespace tutti::core
