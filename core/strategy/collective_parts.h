#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/schedule/stages.h"
#include "core/strategy/collective.h"

namespace tutti::core {

/// A collective that is part of another collective.
struct CollectivePart {
  /// It is among all ranks of the whole; or it is NCCL's among the first worker's replicas, as
  /// equivalent rings.
  Collective collective;
  /// NCCL executes it in every worker separately.
  bool inside_workers = false;
};

/// The parts of a collective for which NCCL executes something inside every worker. A rank begins a
/// part when it has completed those before; ranks that are not replicas skip parts inside workers.
/// The lanes of the whole's schedule are those of the parts' schedules, in order.
struct CollectiveParts {
  std::vector<CollectivePart> all;
  StageGroup layout;
  /// True if NCCL's parts have its choice and times, and are simulated with them instead of the
  /// whole's schedule.
  bool timed = false;

  [[nodiscard]] bool takes_part(const CollectivePart& part, Rank rank) const {
    return !part.inside_workers || rank < layout.replicas();
  }
  /// The number of lanes that the part has on a rank in the schedule of the whole.
  [[nodiscard]] std::int32_t lanes(const CollectivePart& part, Rank rank) const {
    if (!takes_part(part, rank)) return 0;
    return part.collective.schedule->lanes(part.inside_workers ? rank % layout.per_worker : rank);
  }
};

/// Returns the parts with which a collective is simulated; null: it is simulated by its schedule,
/// or NCCL's time of the whole.
inline const CollectiveParts* timed_parts(const Collective& collective) {
  return collective.parts && collective.parts->timed ? collective.parts.get() : nullptr;
}

/// A stage of a collective (core/schedule/stages.h) and, if NCCL executes it inside every worker,
/// NCCL's operation.
struct CollectiveStage {
  struct ByNccl {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::int64_t elements = 0;
    Rank root = 0;  ///< rank of the root within its worker
  };
  Stage stage;
  std::optional<ByNccl> nccl = std::nullopt;
};

/// Returns the schedule of the whole, with given schedules for NCCL's parts: `inside` returns the
/// schedule of a part on the ranks of a worker; null: the part's rings.
std::unique_ptr<Schedule> schedule_of(
    const CollectiveParts& parts, std::int64_t elements,
    const std::function<std::shared_ptr<const Schedule>(const Collective&)>& inside);

/// Sets the stages of `whole`: its schedule, and its parts if some are NCCL's and workers have more
/// than one replica.
/// REQUIRES: its group, elements and contributors are those of `layout`; NCCL's stages have
/// StageScope::kInsideWorkers.
void compose(Collective& whole, const StageGroup& layout, std::vector<CollectiveStage> stages);

}  // namespace tutti::core
