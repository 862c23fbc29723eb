#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/partition.h"
#include "core/strategy/collective.h"
#include "core/strategy/varying_sizes.h"

namespace tutti::core {

/// A collective that replicas execute repeatedly while they compute: the k-th of n executions
/// starts when k/n of a pass has been computed.
struct Exchange {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;  ///< number of elements, as in Collective
  std::int32_t per_forward = 0;
  std::int32_t per_backward = 0;
  std::optional<VaryingSizes> sizes =
      std::nullopt;       ///< block sizes of an all-to-all; nullopt: all blocks are full
  bool overlaps = false;  ///< true: computation waits for the collectives only at the end of the
                          ///< pass; false: computation waits for each collective

  [[nodiscard]] Bytes bytes() const { return elements * size_of(type); }
};

/// Groups of replicas that communicate in addition to reducing gradients, for example for tensor or
/// expert parallelism. A replica executes its exchanges on one communicator one after the other (as
/// on a stream), concurrently with all other work.
struct Communicator {
  std::string name;
  Partition partition;
  bool splits_model = false;  ///< true if gradients are reduced among the replicas that have the
                              ///< same rank in their respective groups
  /// The strategy of the exchanges. Only algorithm, channels, staging and launch_overhead are used.
  Strategy strategy;
  std::vector<Exchange> exchanges;
};

/// The maximum number of exchanges of one kind in each pass of a training step.
inline constexpr std::int32_t kMaxExchanges = 1 << 20;

/// An exchange of a plan, with its indices in the plan.
struct PlannedExchange {
  int communicator = 0;
  Exchange exchange;
  std::int32_t collective = -1;  ///< index into Plan::collectives
};

/// Returns descriptions of the problems with a communicator's algorithm and sizes; empty if there
/// are none.
std::vector<std::string> problems_of(const Communicator& communicator, const Cluster& cluster);

/// Describes an exchange: "tensor: 2 groups of 8, in each step 48 all_reduce of 16.8 MB".
std::string describe(const PlannedExchange& exchange, const Communicator& communicator,
                     std::int32_t micro_batches);

}  // namespace tutti::core
