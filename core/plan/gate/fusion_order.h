#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core/plan/gate/gate.h"

namespace tutti::core {

/// Returns the batches into which ready items are fused, as indices into `ready`. `ready` has the
/// items in the order in which they became ready. A batch begins with the first item that is not in
/// an earlier batch. Later items of the same kind are added as long as the batch has at most
/// `threshold` bytes. Items of another kind, and items that do not fit, are skipped. The search
/// ends when the added and the skipped items together have more than `threshold` bytes. SOURCE:
/// horovod/common/controller.cc, FuseResponses.
std::vector<std::vector<int>> fused(const std::vector<GateItem>& ready, Bytes threshold);

/// The order in which Horovod considers the items of a cycle. The order of the items determines
/// which items are fused.
///
/// Items without an entry in the response cache are in the order in which the coordinator (rank 0)
/// finds that they are ready on all ranks. The coordinator reads the cycle's requests from rank 0,
/// then from rank 1, and so on. Items with an entry in the response cache come first, in the order
/// of their cache bits. Cache bits are reassigned after every cycle, and the least recently used
/// item gets the first bit. From the second step on, items are therefore in the order of the
/// previous step. SOURCE: horovod/common/controller.cc, ComputeResponseList;
/// horovod/common/response_cache.cc, put_, get_response, update_cache_bits. If the cache is too
/// small for all items, no lookup in the cache is a hit, because the LRU policy always evicts an
/// item before its next use. `cached` is false if the cache is too small for all items.
class FusionOrder {
 public:
  /// An item that has become ready on all ranks.
  struct Arrival {
    std::int32_t item = 0;
    /// The sort key of the item. The key increases with the highest rank that reported the item in
    /// this cycle. Among items with the same highest rank, the key increases with the item's
    /// position in the rank's queue.
    std::int64_t order = 0;
  };

  FusionOrder(GateItems items, Bytes threshold, bool cached)
      : items_(std::move(items)),
        threshold_(threshold),
        cached_(cached),
        last_use_(items_->size(), kNever) {}

  /// Returns the batches of one cycle, in the order in which they start. All `arrivals` are items
  /// of one step.
  std::vector<std::vector<std::int32_t>> cycle(std::vector<Arrival> arrivals);

 private:
  static constexpr std::int64_t kNever = -1;

  GateItems items_;
  Bytes threshold_;
  bool cached_;
  std::vector<std::int64_t>
      last_use_;  ///< for each item: `uses_` at the item's last use; kNever: not in the cache
  std::int64_t uses_ = 0;
};

}  // namespace tutti::core
