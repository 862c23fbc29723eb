#pragma once

#include <memory>

#include "core/strategy/collective.h"

namespace tutti::core {

/// Looks up the predicted times of NCCL's collectives. The simulation uses these times instead of
/// schedules. A plan keeps this object during its execution, because some collectives are created
/// only at run time. Example: Horovod decides at run time which packs to fuse, so the times of the
/// fused collectives cannot be looked up in advance.
class CollectiveTimes {
 public:
  virtual ~CollectiveTimes() = default;

  /// NCCL's predicted time for a collective. If both times are null, the collective is simulated by
  /// its schedule.
  struct Known {
    std::shared_ptr<const nccl::CollectiveTime> whole;  ///< the time of the whole collective, if
                                                        ///< NCCL executes the whole collective
    /// Set if NCCL executes only some parts of the collective; these parts have NCCL's times.
    std::shared_ptr<const CollectiveParts> parts;
  };
  [[nodiscard]] virtual Known of(const Collective& collective) const = 0;
  /// True if NCCL executes only parts inside workers.
  [[nodiscard]] virtual bool only_inside_workers() const = 0;
};

/// Sets the time of a collective that was made at run time, if `times` has a time for the
/// collective. `times` may be null.
void assign_time(const CollectiveTimes* times, Collective& collective);

}  // namespace tutti::core
