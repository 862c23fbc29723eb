#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/notes.h"
#include "core/cluster/cluster.h"
#include "core/custom/algorithm_shape.h"
#include "core/schedule/contract.h"
#include "core/schedule/reduction.h"
#include "core/strategy/algorithm.h"
#include "core/strategy/all_reduce_spec.h"
#include "core/strategy/compression.h"
#include "core/strategy/servers.h"
#include "core/strategy/tf_runtime.h"

namespace tutti::core {

/// The way in which gradients are merged into one buffer (core/proto/scenario.proto,
/// Strategy.Merging).
enum class Merging { kScopedAllocator, kConcat, kSeparate };
enum class Launch { kConcurrent, kSerial };
/// The order of serial launches: the order in which packs are handed over, or descending instance
/// keys.
enum class LaunchOrder { kByPacking, kAsHandedOver, kDescendingKeys };
enum class Update { kPerPack, kAfterAll, kOnServers };

/// A problem that prevents a strategy from running: a text with the field (before the colon) and
/// the remedy.
struct StrategyProblem {
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kConflict;
};

/// A strategy's handling of sparse gradients, if it does not simply gather rows by its algorithm.
struct SparseRules {
  std::optional<StrategyProblem> refused;  ///< set if sparse gradients are not supported
  std::optional<StrategyProblem>
      refused_if_rows_differ;  ///< set if all replicas must have the same number of rows
  bool on_servers = true;      ///< gradients of variables on servers may be sparse
  bool over_first_device =
      false;  ///< each gradient is gathered on the first device, and copied from there to all
  std::optional<AlgorithmChoice> gathered_by;  ///< algorithm that gathers them, independent of the
                                               ///< algorithm for dense gradients
  bool lengths_first = false;                  ///< replicas first exchange their numbers of rows
  std::string whole_if_rows_differ;  ///< the component that reduces the gradient as a dense one if
                                     ///< rows differ; "": rows are gathered
  bool after_last_pack =
      false;  ///< serial launches: sparse gradients come after the last dense pack
  bool indices_beside_values = false;  ///< concurrent launches: indices do not wait for values
};

/// The aggregation of per-replica variables for a checkpoint.
struct CheckpointRules {
  std::optional<StrategyProblem> refused;
  bool on_cpu = false;                ///< variables are copied to the worker's CPU and added up
                                      ///< there
  std::optional<AlgorithmChoice> by;  ///< algorithm that sums them, independent of the algorithm
                                      ///< for gradients
};

class Framework;
class AlgorithmText;
class CustomAlgorithm;

/// An algorithm that a file describes.
struct CustomChoice {
  std::string file;  ///< file name in the scenario
  std::string path;  ///< path where the file was found
  std::shared_ptr<const AlgorithmText> text;
  std::vector<AlgorithmParameter> set;
  std::shared_ptr<const CustomAlgorithm>
      made;  ///< the algorithm for the cluster; null until the strategy is lowered
};

/// The strategy of a scenario, with every default filled in.
struct Strategy {
  /// If the strategy has a spec: the algorithm of its last entry, which takes the largest
  /// gradients.
  AlgorithmChoice algorithm;
  std::optional<AllReduceSpec> spec;
  std::optional<CustomChoice> custom;  ///< only for algorithm kCustom
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Rank root = 0;
  bool out_of_place = false;
  int shards = 1;
  std::optional<int> channels;

  std::optional<Bytes> bytes_per_pack;
  int num_packs = 0;
  Bytes agg_small_grads_max_bytes;
  int agg_small_grads_max_group = 10;
  bool agg_small_grads_exact_group = false;  ///< if false, groups hold up to two more gradients
  int all_reduce_merge_scope = 1;
  bool merge_scope_asked = false;
  int chunks_by_count = 0;  ///< number of packs with equal numbers of gradients, the last created
                            ///< first (TensorFlow 2.1); 0: unused
  bool pad_packs = false;   ///< pads packs to a size that can be cut evenly
  TfRuntime tf_runtime;     ///< only for tf_ring
  std::shared_ptr<const Framework>
      framework;  ///< the framework that chose these settings, if any (core/framework)
  std::optional<Servers> servers;  ///< the devices that store variables, unless every replica
                                   ///< stores them
  /// Only for reduction_to_one_device: the rank that adds; nullopt: the first worker's CPU.
  std::optional<Rank> reduce_to = Rank{0};
  HierarchicalCopy hierarchical_copy;  ///< only for hierarchical_copy
  bool independent = false;  ///< every replica keeps its gradients to itself; nothing is reduced
  std::string distribution_name;  ///< for display: the distribution that holds variables,
                                  ///< "MirroredStrategy (NcclAllReduce)"
  std::string reduced_by;         ///< for display: the reducer, "CollectiveAllReduce TF_2_4,
                                  ///< implementation NCCL"; or ""
  SparseRules sparse;
  CheckpointRules checkpoint;

  Merging merging = Merging::kScopedAllocator;
  Launch launch = Launch::kConcurrent;
  Reduction reduction = Reduction::kSum;
  Update update = Update::kPerPack;
  Staging staging = Staging::kViaHost;
  bool staging_asked = false;  ///< staging was set explicitly; otherwise it is the algorithm's
                               ///< default
  std::optional<Launch> launch_asked;
  std::optional<Merging> merging_asked;
  std::optional<Update> update_asked;
  /// nccl/…: the stage across workers waits until NCCL is done on every GPU of its worker, as with
  /// TensorFlow's control edges, not only on the first GPU.
  bool waits_for_workers = false;
  Time launch_overhead;
  bool launch_overhead_asked = false;
  std::optional<Compression> compression;

  LaunchOrder launch_order = LaunchOrder::kByPacking;
  bool instance_keys = false;  ///< packs have instance keys in any launch order (collective_keys.h)
  std::optional<Time> timeout;   ///< the timeout of each of a collective's two timers
  Notes notes;                   ///< notes for readers of the plan that explain it
  std::string reduce_to_device;  ///< as written in the scenario; lowered to reduce_to
  /// The fields above that were set by options of a framework, and where those are written:
  /// "num_packs" → "tensorflow.tf_cnn_benchmarks.gradient_repacking". Problems with the fields are
  /// reported there.
  std::map<std::string, std::string> written_as;

  /// Returns TensorFlow's defaults for an algorithm: NCCL's collectives are serialised and read GPU
  /// memory directly; ring and nccl are CollectiveReduce ops, which the ScopedAllocator merges.
  static Strategy for_algorithm(AlgorithmChoice algorithm);
  /// Sets the algorithm with its defaults, except for settings that were requested explicitly.
  void take(AlgorithmChoice algorithm);
  /// Applies the requested merging and launches, if any.
  void apply_overrides();
};

/// The maximum number of ranks of one collective, including helpers.
inline constexpr std::int64_t kMaxRanks = 2'000'000'000;

/// Returns the problems that prevent `strategy` from running on `cluster`. If it has a spec, use
/// problems_on() (all_reduce_spec.h).
std::vector<StrategyProblem> problems_of(const Strategy& strategy, const Cluster& cluster);

}  // namespace tutti::core
