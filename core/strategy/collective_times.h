#pragma once

#include <memory>

#include "core/strategy/collective.h"

namespace tutti::core {

/// Predicts the times of NCCL's collectives during a simulation. The simulation uses predicted
/// times instead of schedules. A plan keeps an object of this class, because some collectives only
/// exist at run time. For example, Horovod decides at run time which packs to fuse, so the times of
/// fused collectives cannot be computed in advance.
class CollectiveTimes {
 public:
  virtual ~CollectiveTimes() = default;

  /// NCCL's predicted time for a collective. If `whole` and `parts` are null, the schedule of the
  /// collective is simulated.
  struct Known {
    std::shared_ptr<const nccl::CollectiveTime> whole;  ///< NCCL's time for the whole collective,
                                                        ///< if NCCL executes all of it
    /// The parts of the collective, if NCCL executes only some of them. NCCL's parts have times.
    std::shared_ptr<const CollectiveParts> parts;
  };
  [[nodiscard]] virtual Known of(const Collective& collective) const = 0;
  /// True if the algorithm uses NCCL only inside workers, in combination with another algorithm
  /// across workers.
  [[nodiscard]] virtual bool only_inside_workers() const = 0;
};

/// Sets the predicted time of a collective that was made at run time, if `times` has one. `times`
/// may be null.
void assign_time(const CollectiveTimes* times, Collective& collective);

}  // namespace tutti::core
