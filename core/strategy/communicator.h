#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/partition.h"
#include "core/strategy/collective.h"
#include "core/strategy/varying_sizes.h"

namespace tutti::core {

/// A collective that replicas execute several times during computation. The k-th of n executions
/// starts when k/n of a forward or backward pass has been computed.
struct Exchange {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;  ///< number of elements of a replica's input or output, whichever is
                              ///< larger
  std::int32_t per_forward = 0;
  std::int32_t per_backward = 0;
  std::optional<VaryingSizes> sizes =
      std::nullopt;       ///< block sizes of an all-to-all; nullopt: blocks are full
  bool overlaps = false;  ///< true: computation waits for the executions only at the end of the
                          ///< pass; false: computation waits for each execution

  [[nodiscard]] Bytes bytes() const { return elements * size_of(type); }
};

/// Groups of replicas that communicate during computation, in addition to the reduction of
/// gradients; for example, for tensor or expert parallelism. On one communicator, the exchanges of
/// a replica run one after the other, as on a stream. Exchanges run concurrently with all other
/// work of the replica.
struct Communicator {
  std::string name;
  Partition partition;
  bool splits_model = false;  ///< true if the replicas of a group hold different parts of the
                              ///< model; gradients are then reduced among replicas with the same
                              ///< rank in their groups
  /// Settings for the exchanges. Only the algorithm, channels, staging and launch_overhead of the
  /// strategy have an effect.
  Strategy strategy;
  std::vector<Exchange> exchanges;
};

/// The maximum number of executions of one exchange in a forward or backward pass.
inline constexpr std::int32_t kMaxExchanges = 1 << 20;

/// An exchange in a plan, with its communicator and its collective.
struct PlannedExchange {
  int communicator = 0;
  Exchange exchange;
  std::int32_t collective = -1;  ///< index into Plan::collectives
};

/// Returns a text for each problem with the communicator's algorithm or sizes; empty if there are
/// none.
std::vector<std::string> problems_of(const Communicator& communicator, const Cluster& cluster);

/// Describes an exchange, for example "tensor: 2 groups of 8, in each step 48 all_reduce of 16.8
/// MB".
std::string describe(const PlannedExchange& exchange, const Communicator& communicator,
                     std::int32_t micro_batches);

}  // namespace tutti::core
