#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/plan/gate/gate.h"

namespace tutti::core {

/// Returns the batches in which ready items are fused, as indices into `ready`, which is in the
/// order in which items became ready. A batch takes the kind of its first item, and further items
/// of this kind while their total is at most `threshold`. Items of other kinds, or that no longer
/// fit, are skipped as long as those taken and those skipped also total at most `threshold`.
/// SOURCE: horovod/common/controller.cc, FuseResponses.
std::vector<std::vector<int>> fused(const std::vector<GateItem>& ready, Bytes threshold);

/// Horovod's order of the items of a cycle, which determines which of them are fused.
///
/// Items without an entry in the response cache are ordered as rank 0, the coordinator, counts
/// them: it reads the requests of the cycle from rank 0, then rank 1, and so on, and an item is
/// complete with the last rank that was missing. Items with an entry are ordered by their cache
/// bits, which are reassigned after every cycle, the least recently used first. So from the second
/// step on, the order is that of the step before.
/// SOURCE: horovod/common/controller.cc, ComputeResponseList; horovod/common/response_cache.cc,
/// put_, get_response, update_cache_bits. A cache that is too small for all items never has a hit,
/// like any least-recently-used cache that is read in a longer cyclic sequence; `cached` is then
/// false.
class FusionOrder {
 public:
  /// An item that has become ready on all ranks.
  struct Arrival {
    std::int32_t item = 0;
    /// Grows with the highest rank that reported the item in this cycle and, for one rank, with the
    /// item's place in its queue.
    std::int64_t order = 0;
  };

  FusionOrder(GateItems items, Bytes threshold, bool cached)
      : items_(std::move(items)),
        threshold_(threshold),
        cached_(cached),
        last_use_(items_->size(), kNever) {}

  /// Returns the batches of one cycle, for items of one step, in the order in which they start.
  std::vector<std::vector<std::int32_t>> cycle(std::vector<Arrival> arrivals);

 private:
  static constexpr std::int64_t kNever = -1;

  GateItems items_;
  Bytes threshold_;
  bool cached_;
  std::vector<std::int64_t>
      last_use_;  ///< by item: a counter that grows with every use; kNever: not in the cache
  std::int64_t uses_ = 0;
};

}  // namespace tutti::core
