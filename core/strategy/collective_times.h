#pragma once

#include <memory>

#include "core/strategy/collective.h"

namespace tutti::core {

/// Looks up the times of collectives that are not simulated by their schedules: NCCL's. A plan
/// keeps it while it is executed, because some collectives are made only then: Horovod decides at
/// run time which packs to fuse, so their times cannot be looked up in advance.
class CollectiveTimes {
 public:
  virtual ~CollectiveTimes() = default;

  /// NCCL's time for a collective. Both null: the collective is simulated by its schedule.
  struct Known {
    std::shared_ptr<const nccl::CollectiveTime> whole;  ///< set if NCCL executes the whole
                                                        ///< collective
    std::shared_ptr<const CollectiveParts> parts;       ///< otherwise its parts, some of which have
                                                        ///< NCCL's times
  };
  [[nodiscard]] virtual Known of(const Collective& collective) const = 0;
  /// True if NCCL executes only the parts inside workers.
  [[nodiscard]] virtual bool only_inside_workers() const = 0;
};

/// Sets the time of a collective that was made at run time, if `times` (which may be null) knows
/// one.
void assign_time(const CollectiveTimes* times, Collective& collective);

}  // namespace tutti::core
