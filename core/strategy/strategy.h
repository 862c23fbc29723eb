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

/// How gradients become one buffer (core/proto/scenario.proto, Strategy.Merging).
enum class Merging { kScopedAllocator, kConcat, kSeparate };
enum class Launch { kConcurrent, kSerial };
/// The order of serial launches: the order in which packs are handed over, or descending instance
/// keys.
enum class LaunchOrder { kByPacking, kAsHandedOver, kDescendingKeys };
enum class Update { kPerPack, kAfterAll, kOnServers };

/// What keeps a strategy from running: a text that names the field (before the colon) and the remedy.
struct StrategyProblem {
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kConflict;
};

/// How a strategy handles sparse gradients, if not by the algorithm's usual gather of rows.
struct SparseRules {
  std::optional<StrategyProblem> refused;                 ///< there are none
  std::optional<StrategyProblem> refused_if_rows_differ;  ///< replicas with different numbers of rows are not possible
  bool on_servers = true;                                 ///< those of variables on servers may be sparse
  bool over_first_device = false;              ///< each is gathered on the first device, and copied from there to all
  std::optional<AlgorithmChoice> gathered_by;  ///< whatever reduces dense gradients
  bool lengths_first = false;                  ///< replicas tell each other how many rows they have
  std::string whole_if_rows_differ;    ///< the variable is then reduced as a dense one: by whom; "": rows are gathered
  bool after_last_pack = false;        ///< of serial launches: all that is sparse comes after the last dense pack
  bool indices_beside_values = false;  ///< of concurrent launches: indices do not wait for values
};

/// How variables that replicas keep by themselves are brought together for a checkpoint.
struct CheckpointRules {
  std::optional<StrategyProblem> refused;
  bool on_cpu = false;                ///< copied to the worker's CPU and added up there
  std::optional<AlgorithmChoice> by;  ///< whatever reduces gradients
};

class Framework;
class AlgorithmText;
class CustomAlgorithm;

/// An algorithm that a file describes.
struct CustomChoice {
  std::string file;  ///< as the scenario names it
  std::string path;  ///< where it was found
  std::shared_ptr<const AlgorithmText> text;
  std::vector<AlgorithmParameter> set;
  std::shared_ptr<const CustomAlgorithm> made;  ///< for the cluster; null until the strategy is lowered
};

/// The strategy of a scenario, with every default filled in.
struct Strategy {
  /// If the strategy has a spec: the algorithm of its last entry, which takes the largest
  /// gradients.
  AlgorithmChoice algorithm;
  std::optional<AllReduceSpec> spec;
  std::optional<CustomChoice> custom;  ///< of algorithm kCustom
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
  std::shared_ptr<const Framework> framework;  ///< what all that was made of, if a framework chose it (core/framework)
  std::optional<Servers> servers;              ///< where variables lie, if not on every replica
  /// Of reduction_to_one_device: the rank that adds; nothing: the first worker's CPU.
  std::optional<Rank> reduce_to = Rank{0};
  HierarchicalCopy hierarchical_copy;  ///< of hierarchical_copy
  bool independent = false;            ///< every replica keeps its gradients to itself
  std::string distribution_name;  ///< by whom variables are held, for the reader: "MirroredStrategy (NcclAllReduce)"
  std::string reduced_by;  ///< by what of the framework: "CollectiveAllReduce TF_2_4, implementation NCCL"; or ""
  SparseRules sparse;
  CheckpointRules checkpoint;

  Merging merging = Merging::kScopedAllocator;
  Launch launch = Launch::kConcurrent;
  Reduction reduction = Reduction::kSum;
  Update update = Update::kPerPack;
  Staging staging = Staging::kViaHost;
  bool staging_asked = false;  ///< rather than the algorithm's default
  std::optional<Launch> launch_asked;
  std::optional<Merging> merging_asked;
  std::optional<Update> update_asked;
  /// nccl/…: what goes across workers waits until NCCL is through on every GPU of its worker, as TensorFlow's control edges have
  /// it, and not on the first alone.
  bool waits_for_workers = false;
  Time launch_overhead;
  bool launch_overhead_asked = false;
  std::optional<Compression> compression;

  LaunchOrder launch_order = LaunchOrder::kByPacking;
  bool instance_keys = false;    ///< packs have keys whatever their order (collective_keys.h)
  std::optional<Time> timeout;   ///< of either timer of a collective
  Notes notes;                   ///< for the plan's reader: how it came about
  std::string reduce_to_device;  ///< as it was written; lowered to reduce_to
  /// Fields above that a framework's options set, and where those are written: "num_packs" →
  /// "tensorflow.tf_cnn_benchmarks.gradient_repacking". Problems of the fields are reported there.
  std::map<std::string, std::string> written_as;

  /// The defaults that depend on the algorithm, as TensorFlow has them: NCCL's collectives are serialised and read GPU
  /// memory directly; ring and nccl are CollectiveReduce ops, which the ScopedAllocator merges.
  static Strategy for_algorithm(AlgorithmChoice algorithm);
  /// Takes an algorithm with what usually goes with it, but for what is asked for.
  void take(AlgorithmChoice algorithm);
  /// Takes the merging and the launches that are asked for, if any are.
  void take_what_is_asked();
};

/// Ranks of one collective, helpers included.
inline constexpr std::int64_t kMostRanks = 2'000'000'000;

/// What keeps `strategy` from running on `cluster`. Of a strategy with a spec problems_on() tells it (all_reduce_spec.h).
std::vector<StrategyProblem> problems_of(const Strategy& strategy, const Cluster& cluster);

}  // namespace tutti::core
