#pragma once

#include <memory>

#include "core/strategy/collective.h"

namespace tutti::core {

/// Knows how long collectives take that are not simulated by their schedules: NCCL's. A plan keeps it
/// while it is executed, because some collectives are made only then: Horovod decides at run time which
/// packs to fuse, so that their time cannot be looked up in advance.
class CollectiveTimes {
 public:
  virtual ~CollectiveTimes() = default;

  /// What NCCL takes for a collective. Nothing of both: the collective is simulated by its schedule.
  struct Known {
    std::shared_ptr<const nccl::CollectiveTime> whole;  ///< NCCL executes all of it
    std::shared_ptr<const CollectiveParts> parts;       ///< its parts, with the times of NCCL's
  };
  [[nodiscard]] virtual Known of(const Collective& collective) const = 0;
  /// True if NCCL only executes what is inside workers.
  [[nodiscard]] virtual bool only_inside_workers() const = 0;
};

/// Gives a collective that was made at run time its time, if `times` (which may be null) knows one.
void assign_time(const CollectiveTimes* times, Collective& collective);

}  // namespace tutti::core
