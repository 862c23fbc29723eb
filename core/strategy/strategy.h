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

/// The method by which gradients are merged into one buffer (core/proto/scenario.proto,
/// Strategy.Merging).
enum class Merging { kScopedAllocator, kConcat, kSeparate };
enum class Launch { kConcurrent, kSerial };
/// The order of serial launches: the order of the plan's packs (kPlanOrder), or by descending
/// instance keys (kDescendingKeys). kByPacking selects kPlanOrder if bytes_per_pack or num_packs
/// is set, otherwise kDescendingKeys.
enum class LaunchOrder { kByPacking, kPlanOrder, kDescendingKeys };
enum class Update { kPerPack, kAfterAll, kOnServers };

/// A problem that prevents a strategy from running: the field at fault, and a text with the remedy.
struct StrategyProblem {
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kConflict;
};

/// A strategy's rules for sparse gradients. By default, the strategy's algorithm gathers the rows.
struct SparseRules {
  /// Set if the strategy does not support sparse gradients; describes the problem.
  std::optional<StrategyProblem> refused;
  std::optional<StrategyProblem>
      refused_if_rows_differ;  ///< the problem if replicas have different numbers of rows; not set
                               ///< if different numbers are allowed
  bool on_servers = true;      ///< true if variables on servers may have sparse gradients
  bool over_first_device = false;  ///< true if each gradient is gathered on the first device and
                                   ///< copied from there to all devices
  /// The algorithm that gathers rows, if it differs from the algorithm for dense gradients.
  std::optional<AlgorithmChoice> gathered_by;
  bool lengths_first = false;  ///< true if replicas first exchange their numbers of rows
  /// The name of the component that reduces a sparse gradient like a dense gradient if replicas
  /// have different numbers of rows; "": rows are gathered.
  std::string whole_if_rows_differ;
  bool after_last_pack =
      false;  ///< true if serial launches put sparse gradients after the last dense pack
  /// True if concurrent launches gather indices without waiting for the gathers of values.
  bool indices_beside_values = false;
};

/// A strategy's rules for aggregating per-replica variables before a checkpoint.
struct CheckpointRules {
  std::optional<StrategyProblem> refused;
  bool on_cpu = false;  ///< true if variables are first copied to the worker's CPU and summed there
  /// The algorithm that sums variables, if it differs from the algorithm for gradients.
  std::optional<AlgorithmChoice> by;
};

class Framework;
class AlgorithmText;
class CustomAlgorithm;

/// An algorithm that is described in a file.
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
  /// The algorithm of the collective. If the strategy has a spec, `algorithm` is the algorithm of
  /// the spec's last entry, which applies to the largest gradients.
  AlgorithmChoice algorithm;
  std::optional<AllReduceSpec> spec;
  std::optional<CustomChoice> custom;  ///< the custom algorithm; only for kCustom
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Rank root = 0;
  bool out_of_place = false;
  int shards = 1;
  std::optional<int> channels;

  std::optional<Bytes> bytes_per_pack;
  int num_packs = 0;
  Bytes agg_small_grads_max_bytes;
  int agg_small_grads_max_group = 10;
  /// True: a pack holds at most agg_small_grads_max_group gradients. False: a pack holds at most
  /// agg_small_grads_max_group + 2 gradients.
  bool agg_small_grads_exact_group = false;
  int all_reduce_merge_scope = 1;
  bool requested_merge_scope = false;
  int chunks_by_count = 0;  ///< number of packs, which have equal numbers of gradients in reverse
                            ///< order of creation (TensorFlow 2.1); 0: unused
  bool pad_packs = false;   ///< true if packs are padded to a size that can be cut evenly
  TfRuntime tf_runtime;     ///< only for tf_ring
  std::shared_ptr<const Framework>
      framework;  ///< framework that determined the settings above (core/framework); null: none
  /// The devices that store variables; nullopt: every replica stores them.
  std::optional<Servers> servers;
  /// Only for reduction_to_one_device: the rank that sums. nullopt: the first worker's CPU sums.
  std::optional<Rank> reduce_to = Rank{0};
  HierarchicalCopy hierarchical_copy;  ///< only for hierarchical_copy
  bool independent = false;            ///< true if gradients are never reduced
  std::string distribution_name;  ///< for display: the distribution strategy, "MirroredStrategy
                                  ///< (NcclAllReduce)"
  std::string reduced_by;         ///< for display: the component that reduces, "CollectiveAllReduce
                                  ///< TF_2_4, implementation NCCL"; may be ""
  SparseRules sparse;
  CheckpointRules checkpoint;

  Merging merging = Merging::kScopedAllocator;
  Launch launch = Launch::kConcurrent;
  Reduction reduction = Reduction::kSum;
  Update update = Update::kPerPack;
  Staging staging = Staging::kViaHost;
  /// True if staging was set explicitly; false if staging is the algorithm's default.
  bool requested_staging = false;
  std::optional<Launch> requested_launch;
  std::optional<Merging> requested_merging;
  std::optional<Update> requested_update;
  /// Only for combinations nccl/…. True: the stage across workers waits until NCCL is complete on
  /// every GPU of its worker, as with TensorFlow's control edges. False: the stage across workers
  /// waits only for the worker's first GPU.
  bool waits_for_workers = false;
  Time launch_overhead;
  bool requested_launch_overhead = false;
  std::optional<Compression> compression;

  LaunchOrder launch_order = LaunchOrder::kByPacking;
  /// True if packs have instance keys for any launch order (collective_keys.h).
  bool instance_keys = false;
  std::optional<Time> timeout;   ///< timeout of a collective, for its start and for its completion
  Notes notes;                   ///< explanations for readers of the plan
  std::string reduce_to_device;  ///< name of a device, as in the scenario; reduce_to is computed
                                 ///< from this name
  /// Maps the name of a field of this struct to the framework's option that has set it: "num_packs"
  /// → "tensorflow.tf_cnn_benchmarks.gradient_repacking". Problems with the field are reported at
  /// the framework's option.
  std::map<std::string, std::string> written_as;

  /// Returns a strategy with an algorithm and its defaults, which are those of TensorFlow. NCCL's
  /// collectives are serialised and read GPU memory directly; ring and nccl are CollectiveReduce
  /// ops, which the ScopedAllocator merges.
  static Strategy for_algorithm(AlgorithmChoice algorithm);
  /// Sets the algorithm and its defaults, except for settings that were set explicitly.
  void take(AlgorithmChoice algorithm);
  /// Applies the merging and the launch that were set explicitly, if any.
  void apply_overrides();
};

/// The maximum number of ranks of one collective, including helpers.
inline constexpr std::int64_t kMaxRanks = 2'000'000'000;

/// Returns the problems that prevent `strategy` from running on `cluster`. If the strategy has a
/// spec, use problems_on() (all_reduce_spec.h) instead.
std::vector<StrategyProblem> problems_of(const Strategy& strategy, const Cluster& cluster);

}  // namespace tutti::core
