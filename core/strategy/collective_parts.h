#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "core/schedule/stages.h"
#include "core/strategy/collective.h"

namespace tutti::core {

/// A part of a collective. The parts of a collective are executed one after the other, and each
/// part is a collective itself.
struct CollectivePart {
  /// If `inside_workers` is false, this collective has all ranks of the whole collective. If
  /// `inside_workers` is true, this collective is NCCL's collective over the replicas of the first
  /// worker, with a ring schedule.
  Collective collective;
  /// True if NCCL executes this part separately in every worker.
  bool inside_workers = false;
};

/// The parts of a collective, some of which NCCL executes inside workers. A rank begins a part
/// after it has completed all previous parts. Ranks that are not replicas skip the parts that run
/// inside workers. The schedule of the whole collective has the lanes (sequences of steps of a
/// rank) of all parts, one part after the other.
struct CollectiveParts {
  std::vector<CollectivePart> all;
  StageGroup layout;
  /// True if the model of NCCL has set NCCL's choice and time for the parts that NCCL executes. If
  /// true, the simulation executes the parts instead of the whole schedule.
  bool timed = false;

  [[nodiscard]] bool takes_part(const CollectivePart& part, Rank rank) const {
    return !part.inside_workers || rank < layout.replicas();
  }
  /// Returns the number of lanes that a part has on a rank of the whole collective.
  [[nodiscard]] std::int32_t lanes(const CollectivePart& part, Rank rank) const {
    if (!takes_part(part, rank)) return 0;
    return part.collective.schedule->lanes(part.inside_workers ? rank % layout.per_worker : rank);
  }
};

/// Returns the parts of a collective if the simulation executes these parts. Null: the simulation
/// uses the schedule, or NCCL's time for the whole collective.
inline const CollectiveParts* timed_parts(const Collective& collective) {
  return collective.parts && collective.parts->timed ? collective.parts.get() : nullptr;
}

/// A stage of a collective (core/schedule/stages.h). If NCCL executes the stage inside every
/// worker, `nccl` describes NCCL's operation.
struct CollectiveStage {
  struct ByNccl {
    CollectiveKind kind = CollectiveKind::kAllReduce;
    std::int64_t elements = 0;
    Rank root = 0;  ///< rank of the root inside its worker
  };
  Stage stage;
  std::optional<ByNccl> nccl = std::nullopt;
};

/// Returns the schedule of the whole collective, in which the schedules of NCCL's parts are
/// replaced. `inside` returns the new schedule of a part for the ranks of one worker. If `inside`
/// returns null, the part keeps its own schedule.
std::unique_ptr<Schedule> schedule_of(
    const CollectiveParts& parts, std::int64_t elements,
    const std::function<std::shared_ptr<const Schedule>(const Collective&)>& inside);

/// Makes the schedule of `whole`: the given stages, one after the other. If NCCL executes some
/// stages, and workers have more than one replica, also sets `whole.parts`.
/// REQUIRES: `layout` describes the ranks of `whole`; NCCL's stages have
/// StageScope::kInsideWorkers.
void compose(Collective& whole, const StageGroup& layout, std::vector<CollectiveStage> stages);

}  // namespace tutti::core
