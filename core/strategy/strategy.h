#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/schedule/contract.h"
#include "core/strategy/algorithm.h"
#include "core/strategy/all_reduce_spec.h"
#include "core/strategy/collective_all_reduce.h"
#include "core/strategy/compression.h"
#include "core/strategy/distribution.h"
#include "core/strategy/framework.h"
#include "core/strategy/servers.h"
#include "core/strategy/tf_runtime.h"

namespace tutti::core {

/// How gradients become one buffer (core/proto/scenario.proto, Strategy.Merging).
enum class Merging { kScopedAllocator, kConcat, kSeparate };
enum class Launch { kConcurrent, kSerial };
/// Of serial launches: the order in which packs are handed over, or that of their instance keys, the largest first.
enum class LaunchOrder { kByPacking, kAsHandedOver, kDescendingKeys };
enum class Reduction { kSum, kMean, kMin, kMax, kProduct };
/// "sum", "mean", "min", "max", "prod".
std::string_view to_string(Reduction reduction);
enum class Update { kPerPack, kAfterAll, kOnServers };

/// The strategy of a scenario, with every default filled in.
struct Strategy {
  /// Of a strategy with a spec: that of its last entry, which takes the largest gradients.
  AlgorithmChoice algorithm;
  std::optional<AllReduceSpec> spec;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Rank root = 0;
  bool out_of_place = false;
  int shards = 1;
  std::optional<int> channels;

  std::optional<Bytes> bytes_per_pack;
  int num_packs = 0;
  Bytes agg_small_grads_max_bytes;
  int agg_small_grads_max_group = 10;
  bool agg_small_grads_exact_group = false;  ///< rather than up to two more
  int all_reduce_merge_scope = 1;
  bool merge_scope_asked = false;
  int chunks_by_count = 0;  ///< so many packs of equally many gradients, the last first (TensorFlow 2.1); 0: not so
  bool pad_packs = false;   ///< to what cuts evenly
  TfRuntime tf_runtime;     ///< of tf_ring
  std::optional<Framework> framework;  ///< which packs in place of all that
  std::optional<Servers> servers;      ///< where variables lie, if not on every replica
  /// Of reduction_to_one_device: the rank that adds; nothing: the first worker's CPU.
  std::optional<Rank> reduce_to = Rank{0};
  HierarchicalCopy hierarchical_copy;               ///< of hierarchical_copy
  bool independent = false;                         ///< every replica keeps its gradients to itself
  Distribution distribution = Distribution::kNone;  ///< what all that was made of, if it was
  std::string distribution_name;                    ///< of it, for the reader: "MirroredStrategy (NcclAllReduce)"

  Merging merging = Merging::kScopedAllocator;
  Launch launch = Launch::kConcurrent;
  Reduction reduction = Reduction::kSum;
  Update update = Update::kPerPack;
  Staging staging = Staging::kViaHost;
  bool staging_asked = false;  ///< rather than the algorithm's default
  bool launch_asked = false;   ///< likewise
  /// nccl/…: what goes across workers waits until NCCL is through on every GPU of its worker, as TensorFlow's control edges have
  /// it, and not on the first alone.
  bool waits_for_workers = false;
  Time launch_overhead;
  bool launch_overhead_asked = false;
  std::optional<Compression> compression;

  LaunchOrder launch_order = LaunchOrder::kByPacking;
  std::optional<CollectiveAllReduce> collective_all_reduce;  ///< what all that was made of, if it was
  std::optional<Time> timeout;                               ///< of either timer of a collective
  std::vector<std::string> notes;                            ///< for the plan's reader: how it came about

  /// The defaults that depend on the algorithm, as TensorFlow has them: NCCL's collectives are serialised and read GPU
  /// memory directly; ring and nccl are CollectiveReduce ops, which the ScopedAllocator merges.
  static Strategy for_algorithm(AlgorithmChoice algorithm);
};

/// Ranks of one collective, helpers included.
inline constexpr std::int64_t kMostRanks = 2'000'000'000;

/// What keeps `strategy` from running on `cluster`: texts that name the field (before the colon) and the remedy. Of a strategy
/// with a spec problems_on() tells it (all_reduce_spec.h).
struct StrategyProblem {
  std::string field;
  std::string text;
};
std::vector<StrategyProblem> problems_of(const Strategy& strategy, const Cluster& cluster);

}  // namespace tutti::core
