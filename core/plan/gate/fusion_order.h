#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/plan/gate/gate.h"

namespace tutti::core {

/// Which of the items that are ready, in the order in which they became so, travel as one: those of the first one's kind, as long as they
/// hold no more than `threshold` together. Items of other kinds, or that no longer fit, are passed over as long as what is
/// taken and what was passed over hold no more than that either. Answers indices into `ready`, group by group.
/// SOURCE: horovod/common/controller.cc, FuseResponses.
std::vector<std::vector<int>> fused(const std::vector<GateItem>& ready, Bytes threshold);

/// The order in which Horovod considers the items of a cycle, and therefore which of them it fuses.
///
/// Items without an entry in the response cache take the order in which rank 0, the coordinator, counts them: it reads the
/// requests of this cycle from rank 0, then rank 1, and so on, and an item is complete with the last rank that it still missed.
/// Items with an entry take the order of their bits: bits are assigned anew after every cycle, the least recently used first.
/// So from the second step on, the order is that in which the step before carried them out.
/// SOURCE: horovod/common/controller.cc, ComputeResponseList; horovod/common/response_cache.cc, put_, get_response,
/// update_cache_bits. A cache that is too small for all items has none of them when it is asked, as in a sequence that is longer
/// than a least-recently-used cache; then `cached` is false.
class FusionOrder {
 public:
  /// An item that is ready on all ranks, and how it became so.
  struct Arrival {
    std::int32_t item = 0;
    /// Grows with the highest rank that reported the item in this cycle, and for one rank with the item's place in its queue.
    std::int64_t order = 0;
  };

  FusionOrder(GateItems items, Bytes threshold, bool cached)
      : items_(std::move(items)), threshold_(threshold), cached_(cached), last_use_(items_->size(), kNever) {}

  /// The items of one cycle, of one step: answers the items of each batch, in the order in which batches start.
  std::vector<std::vector<std::int32_t>> cycle(std::vector<Arrival> arrivals);

 private:
  static constexpr std::int64_t kNever = -1;

  GateItems items_;
  Bytes threshold_;
  bool cached_;
  std::vector<std::int64_t> last_use_;  ///< by item: a count that grows with every use; kNever: not in the cache
  std::int64_t uses_ = 0;
};

}  // namespace tutti::core
