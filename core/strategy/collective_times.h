#pragma once

#include <memory>

#include "core/strategy/collective.h"

namespace tutti::core {

/// Looks up the predicted times of NCCL's collectives, which are simulated instead of their
/// schedules. A plan keeps this object during its execution, because some collectives are only made
/// at that time. Example: Horovod decides at run time which packs to fuse, so the times of these
/// collectives cannot be looked up in advance.
class CollectiveTimes {
 public:
  virtual ~CollectiveTimes() = default;

  /// NCCL's predicted time for a collective. If both are null, the collective is simulated by its
  /// schedule.
  struct Known {
    std::shared_ptr<const nccl::CollectiveTime> whole;  ///< set if NCCL executes the whole
                                                        ///< collective
    /// Set if NCCL executes only some parts of the collective; these parts have NCCL's times.
    std::shared_ptr<const CollectiveParts> parts;
  };
  [[nodiscard]] virtual Known of(const Collective& collective) const = 0;
  /// True if NCCL executes only parts inside workers.
  [[nodiscard]] virtual bool only_inside_workers() const = 0;
};

/// Sets the time of a collective that was made at run time, if `times` has one. `times` may be
/// null.
void assign_time(const CollectiveTimes* times, Collective& collective);

}  // namespace tutti::core
