#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/partition.h"
#include "core/strategy/collective.h"
#include "core/strategy/varying_sizes.h"

namespace tutti::core {

/// A collective that replicas carry out while they compute, at even distances: the k-th of n in a pass when k/n of the
/// pass is computed.
struct Exchange {
  CollectiveKind collective = CollectiveKind::kAllReduce;
  DataType type = DataType::kFloat32;
  std::int64_t elements = 0;  ///< as Collective counts them
  std::int32_t per_forward = 0;
  std::int32_t per_backward = 0;
  std::optional<VaryingSizes> sizes = std::nullopt;  ///< of an all-to-all whose blocks are not full
  bool overlaps = false;  ///< computation goes on, and waits at the end of the pass; else it waits at once

  [[nodiscard]] Bytes bytes() const { return elements * size_of(type); }
};

/// Groups of replicas that communicate among themselves beside the gradients: of tensor or expert parallelism. What one
/// replica asks for on a communicator is done one after the other there (a stream), beside everything else.
struct Communicator {
  std::string name;
  Partition partition;
  bool splits_model = false;  ///< gradients are reduced among the replicas that have the same place in their groups
  Strategy strategy;          ///< its algorithm, channels, staging and launch_overhead
  std::vector<Exchange> exchanges;
};

/// Exchanges of one kind in a pass that a step may have.
inline constexpr std::int32_t kMostExchanges = 1 << 20;

/// An exchange of the plan.
struct PlannedExchange {
  int communicator = 0;
  Exchange exchange;
  std::int32_t collective = -1;  ///< in Plan::collectives
};

/// What keeps a communicator from being (texts, empty if nothing does): its algorithm and sizes.
std::vector<std::string> problems_of(const Communicator& communicator, const Cluster& cluster);

/// "tensor: 2 groups of 8, in each step 48 all_reduce of 16.8 MB"
std::string describe(const PlannedExchange& exchange, const Communicator& communicator, std::int32_t micro_batches);

}  // namespace tutti::core
