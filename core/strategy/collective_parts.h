#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/schedule/stages.h"
#include "core/strategy/collective.h"

namespace tutti::core {

/// One of the collectives that a collective consists of.
struct CollectivePart {
  /// Among all its ranks; or NCCL's among the first worker's replicas, as the rings that it would be.
  Collective collective;
  /// NCCL carries it out in every worker by itself.
  bool inside_workers = false;
};

/// What a collective consists of in which NCCL does something inside every worker. A rank begins a part when it is through with those before; who is no
/// replica has none of those inside workers. Lanes of the whole's schedule are those of the parts' schedules, in their order.
struct CollectiveParts {
  std::vector<CollectivePart> all;
  StageGroup layout;
  /// NCCL's parts have its choice and times, and are to be simulated so, in place of the whole's schedule.
  bool timed = false;

  [[nodiscard]] bool takes_part(const CollectivePart& part, Rank rank) const {
    return !part.inside_workers || rank < layout.replicas();
  }
  /// The part's schedule has lanes of the whole's; so many are those of a rank.
  [[nodiscard]] std::int32_t lanes(const CollectivePart& part, Rank rank) const {
    if (!takes_part(part, rank)) return 0;
    return part.collective.schedule->lanes(part.inside_workers ? rank % layout.per_worker : rank);
  }
};

/// Those by which a collective is to be simulated; null: by its schedule, or NCCL's time of the whole.
inline const CollectiveParts* timed_parts(const Collective& collective) {
  return collective.parts && collective.parts->timed ? collective.parts.get() : nullptr;
}

/// A stage of a collective (core/schedule/stages.h), and what NCCL is asked for if it is NCCL's: inside every worker.
struct CollectiveStage {
  struct ByNccl {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::int64_t elements = 0;
    Rank root = 0;  ///< in its worker
  };
  Stage stage;
  std::optional<ByNccl> nccl = std::nullopt;
};

/// The schedule of what consists of such parts, with some of its own for NCCL's: `inside` answers of a part which, on ranks of a worker; null: the part's rings.
std::unique_ptr<Schedule> schedule_of(const CollectiveParts& parts, std::int64_t elements,
                                      const std::function<std::shared_ptr<const Schedule>(const Collective&)>& inside);

/// Has `whole` consist of these stages: its schedule, and its parts if some are NCCL's and workers have more than one replica.
/// REQUIRES: its group, elements and contributors are those of `layout`; NCCL's stages are of StageScope::kInsideWorkers.
void compose(Collective& whole, const StageGroup& layout, std::vector<CollectiveStage> stages);

}  // namespace tutti::core
