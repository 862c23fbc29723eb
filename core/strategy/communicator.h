#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/partition.h"
#include "core/strategy/collective.h"
#include "core/strategy/varying_sizes.h"

namespace tutti::core {

/// A collective that replicas execute while they compute, at regular intervals: the k-th of n
/// starts when k/n of a pass has been computed.
struct Exchange {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;  ///< number of elements, as in Collective
  std::int32_t per_forward = 0;
  std::int32_t per_backward = 0;
  std::optional<VaryingSizes> sizes =
      std::nullopt;       ///< set only for an all-to-all with partly filled blocks
  bool overlaps = false;  ///< true: computation waits only at the end of the pass; false: it waits
                          ///< for each collective

  [[nodiscard]] Bytes bytes() const { return elements * size_of(type); }
};

/// Groups of replicas that communicate in addition to reducing gradients, for example for tensor or
/// expert parallelism. A replica's exchanges on one communicator run one after the other (a
/// stream), concurrently with all other work.
struct Communicator {
  std::string name;
  Partition partition;
  bool splits_model = false;  ///< true if gradients are reduced among the replicas that have the
                              ///< same rank in their groups
  /// The strategy of the exchanges: algorithm, channels, staging and launch_overhead.
  Strategy strategy;
  std::vector<Exchange> exchanges;
};

/// The maximum number of exchanges of one kind in each pass of a step.
inline constexpr std::int32_t kMaxExchanges = 1 << 20;

/// An exchange, with its indices in a plan.
struct PlannedExchange {
  int communicator = 0;
  Exchange exchange;
  std::int32_t collective = -1;  ///< index into Plan::collectives
};

/// Returns the problems with a communicator's algorithm and sizes, as texts; empty if there are
/// none.
std::vector<std::string> problems_of(const Communicator& communicator, const Cluster& cluster);

/// Describes an exchange: "tensor: 2 groups of 8, in each step 48 all_reduce of 16.8 MB".
std::string describe(const PlannedExchange& exchange, const Communicator& communicator,
                     std::int32_t micro_batches);

}  // namespace tutti::core
