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
  /// The collective that forms the part. If `inside_workers` is false, a collective over all ranks
  /// of the whole collective. If `inside_workers` is true, NCCL's collective over the replicas of
  /// the first worker, with rings as its schedule.
  Collective collective;
  /// True if NCCL executes the part in every worker separately.
  bool inside_workers = false;
};

/// The parts of a collective if NCCL executes some of the parts inside every worker. A rank begins
/// a part when it has completed all previous parts. Ranks that are not replicas skip the parts
/// inside workers. The lanes of the schedule of the whole collective are the lanes of the parts'
/// schedules, in order.
struct CollectiveParts {
  std::vector<CollectivePart> all;
  StageGroup layout;
  /// True if NCCL's parts have choices and times from the model of NCCL. If true, the parts are
  /// simulated instead of the whole schedule.
  bool timed = false;

  [[nodiscard]] bool takes_part(const CollectivePart& part, Rank rank) const {
    return !part.inside_workers || rank < layout.replicas();
  }
  /// Returns the number of lanes of the part on a rank of the whole collective.
  [[nodiscard]] std::int32_t lanes(const CollectivePart& part, Rank rank) const {
    if (!takes_part(part, rank)) return 0;
    return part.collective.schedule->lanes(part.inside_workers ? rank % layout.per_worker : rank);
  }
};

/// Returns the parts of a collective if the simulation uses them. Null: the collective is simulated
/// by its schedule, or by NCCL's time for the whole collective.
inline const CollectiveParts* timed_parts(const Collective& collective) {
  return collective.parts && collective.parts->timed ? collective.parts.get() : nullptr;
}

/// A stage of a collective (core/schedule/stages.h). If NCCL executes the stage inside every
/// worker, the stage also describes NCCL's operation.
struct CollectiveStage {
  struct ByNccl {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::int64_t elements = 0;
    Rank root = 0;  ///< rank of the root within its worker
  };
  Stage stage;
  std::optional<ByNccl> nccl = std::nullopt;
};

/// Returns the schedule of the whole collective, with given schedules for NCCL's parts. `inside`
/// returns the schedule of a part on the ranks of a worker; if it returns null, the part's own
/// schedule is used.
std::unique_ptr<Schedule> schedule_of(
    const CollectiveParts& parts, std::int64_t elements,
    const std::function<std::shared_ptr<const Schedule>(const Collective&)>& inside);

/// Sets the schedule of `whole` to the sequence of the given stages. If NCCL executes some stages
/// and workers have more than one replica, also sets `whole.parts`.
/// REQUIRES: the group, elements and contributors of `whole` match `layout`; NCCL's stages have
/// StageScope::kInsideWorkers.
void compose(Collective& whole, const StageGroup& layout, std::vector<CollectiveStage> stages);

}  // namespace tutti::core
