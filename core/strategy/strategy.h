#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/schedule/contract.h"
#include "core/strategy/compression.h"
#include "core/strategy/framework.h"

namespace tutti::core {

/// What moves a pack's bytes. The second group works inside every worker first, then across workers.
enum class Algorithm {
  kRing,
  kHalvingDoubling,
  kRecursiveDoubling,
  kDoubleTree,
  kPscpu,
  kPsgpu,
  kNccl,
  kNcclRing,
  kNcclHalvingDoubling,
  kNcclDoubleTree,
  kNcclPscpu,
  kPscpuPscpu,
};

/// "ring", "nccl/pscpu", …
std::string_view to_string(Algorithm algorithm);
/// The algorithm of that name, TensorFlow's xring and rechd included.
std::optional<Algorithm> parse_algorithm(std::string_view name);
std::vector<std::string> algorithm_names();
/// Every algorithm there is, each once.
std::vector<Algorithm> algorithms();
/// The algorithm has this collective. (pscpu: where the replicas are CPUs themselves.)
bool carries_out(Algorithm algorithm, CollectiveKind kind);
/// The workers' CPUs take part as ranks of their own.
bool sums_on_hosts(Algorithm algorithm);

/// How gradients become one buffer (core/proto/scenario.proto, Strategy.Merging).
enum class Merging { kScopedAllocator, kConcat, kSeparate };
enum class Launch { kConcurrent, kSerial };
enum class Reduction { kSum, kMean, kMin, kMax, kProduct };
/// "sum", "mean", "min", "max", "prod".
std::string_view to_string(Reduction reduction);
enum class Update { kPerPack, kAfterAll };

/// The strategy of a scenario, with every default filled in.
struct Strategy {
  Algorithm algorithm = Algorithm::kRing;
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Rank root = 0;
  bool out_of_place = false;
  int shards = 1;
  std::optional<int> channels;

  std::optional<Bytes> bytes_per_pack;
  int num_packs = 0;
  Bytes agg_small_grads_max_bytes;
  int agg_small_grads_max_group = 10;
  int all_reduce_merge_scope = 1;
  bool pad_packs = false;  ///< to what cuts evenly
  std::optional<Framework> framework;  ///< which packs in place of all that

  Merging merging = Merging::kScopedAllocator;
  Launch launch = Launch::kConcurrent;
  Reduction reduction = Reduction::kSum;
  Update update = Update::kPerPack;
  Staging staging = Staging::kViaHost;
  bool staging_asked = false;  ///< rather than the algorithm's default
  Time launch_overhead;
  std::optional<Compression> compression;

  /// The defaults that depend on the algorithm, as TensorFlow has them: NCCL's collectives are serialised and read GPU
  /// memory directly; ring and nccl are CollectiveReduce ops, which the ScopedAllocator merges.
  static Strategy for_algorithm(Algorithm algorithm);
};

/// Ranks of one collective, helpers included.
inline constexpr std::int64_t kMostRanks = 2'000'000'000;

/// What keeps `strategy` from running on `cluster`: texts that name the field (before the colon) and the remedy.
struct StrategyProblem {
  std::string field;
  std::string text;
};
std::vector<StrategyProblem> problems_of(const Strategy& strategy, const Cluster& cluster);

}  // namespace tutti::core
