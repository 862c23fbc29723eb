#pragma once

#include <cstdint>
#include <vector>

#include "core/strategy/plan.h"

namespace tutti::core {

/// The order in which Horovod considers the packs of a cycle, and therefore which of them it fuses.
///
/// Packs without an entry in the response cache take the order in which rank 0, the coordinator, counts them: it reads the
/// requests of this cycle from rank 0, then rank 1, and so on, and a pack is complete with the last rank that it still missed.
/// Packs with an entry take the order of their bits: bits are assigned anew after every cycle, the least recently used first.
/// So from the second step on, the order is that in which the step before carried them out.
/// SOURCE: horovod/common/controller.cc, ComputeResponseList; horovod/common/response_cache.cc, put_, get_response,
/// update_cache_bits. A cache that is too small for all packs has none of them when it is asked, as in a sequence that is longer
/// than a least-recently-used cache; Fusion::cached says so.
class FusionOrder {
 public:
  /// A pack that is ready on all ranks, and how it became so.
  struct Arrival {
    int pack = 0;
    std::int64_t last_rank = 0;  ///< the highest rank that reported the pack in this cycle
    std::int64_t place = 0;      ///< of the pack in that rank's queue: any number that grows
  };

  /// REQUIRES: the plan has a fusion, and outlives the order.
  explicit FusionOrder(const Plan& plan) : plan_(&plan), last_use_(plan.packs.size(), kNever) {}

  /// The packs of one cycle, of one step: answers the packs of each collective, in the order in which they are launched.
  std::vector<std::vector<int>> cycle(std::vector<Arrival> arrivals);

 private:
  static constexpr std::int64_t kNever = -1;

  const Plan* plan_;
  std::vector<std::int64_t> last_use_;  ///< by pack: a count that grows with every use; kNever: not in the cache
  std::int64_t uses_ = 0;
};

}  // namespace tutti::core
