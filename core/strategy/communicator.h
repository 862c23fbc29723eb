#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/partition.h"
#include "core/strategy/collective.h"
#include "core/strategy/varying_sizes.h"

namespace tutti::core {

/// A collective that replicas execute while they compute, at regular intervals: the k-th of n in a
/// pass when k/n of the pass is computed.
struct Exchange {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;  ///< number of elements, as in Collective
  std::int32_t per_forward = 0;
  std::int32_t per_backward = 0;
  std::optional<VaryingSizes> sizes =
      std::nullopt;       ///< only for an all-to-all whose blocks are not full
  bool overlaps = false;  ///< true: computation continues, and waits at the end of the pass; false:
                          ///< computation waits at once

  [[nodiscard]] Bytes bytes() const { return elements * size_of(type); }
};

/// Groups of replicas that communicate among themselves in addition to the gradients: tensor or
/// expert parallelism. A replica's exchanges on one communicator run one after the other (a
/// stream), concurrently with everything else.
struct Communicator {
  std::string name;
  Partition partition;
  bool splits_model =
      false;  ///< gradients are reduced among the replicas with the same rank in their groups
  Strategy strategy;  ///< supplies algorithm, channels, staging and launch_overhead
  std::vector<Exchange> exchanges;
};

/// The maximum number of exchanges of one kind in each pass of a step.
inline constexpr std::int32_t kMaxExchanges = 1 << 20;

/// An exchange of a plan.
struct PlannedExchange {
  int communicator = 0;
  Exchange exchange;
  std::int32_t collective = -1;  ///< index into Plan::collectives
};

/// Returns the problems of a communicator's algorithm and sizes as texts; empty if there are none.
std::vector<std::string> problems_of(const Communicator& communicator, const Cluster& cluster);

/// Describes an exchange: "tensor: 2 groups of 8, in each step 48 all_reduce of 16.8 MB".
std::string describe(const PlannedExchange& exchange, const Communicator& communicator,
                     std::int32_t micro_batches);

}  // namespace tutti::core
