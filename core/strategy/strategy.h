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

/// The method by which the gradients of a pack are merged into one buffer
/// (core/proto/scenario.proto, Strategy.Merging).
enum class Merging { kScopedAllocator, kConcat, kSeparate };
enum class Launch { kConcurrent, kSerial };
/// The order of serial launches. kPlanOrder is the order of the plan's packs. kDescendingKeys is
/// the descending order of instance keys, which are the numbers by which TensorFlow identifies
/// collectives. kByPacking means kPlanOrder if bytes_per_pack or num_packs is set, and otherwise
/// kDescendingKeys.
enum class LaunchOrder { kByPacking, kPlanOrder, kDescendingKeys };
enum class Update { kPerPack, kAfterAll, kOnServers };

/// The place where a framework divides by the number of replicas to compute a mean. All places
/// except kInCollective concern only collectives that NCCL executes completely. The schedules of
/// all other collectives end with the division (core/strategy/collective.cpp).
enum class Division {
  kInCollective,  ///< the collective computes the mean (ncclAvg)
  kWhileCopying,  ///< gradients are divided while they are copied into the pack; NCCL computes a
                  ///< sum
  kBefore,        ///< the device divides each pack before NCCL computes a sum
  kAfter,         ///< NCCL computes a sum, and the device then divides the pack
};

/// A reason why a strategy cannot run: the name of the invalid field, and a text with a remedy.
struct StrategyProblem {
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kConflict;
};

/// The rules of a strategy for sparse gradients. By default, the algorithm of the strategy gathers
/// the rows of sparse gradients.
struct SparseRules {
  /// The problem to report if the strategy does not support sparse gradients; otherwise nullopt.
  std::optional<StrategyProblem> refused;
  std::optional<StrategyProblem>
      refused_if_rows_differ;  ///< the problem to report if replicas have different numbers of
                               ///< rows; nullopt if this is allowed
  bool on_servers = true;      ///< true if sparse gradients are allowed for variables on servers
  bool over_first_device = false;  ///< true if the first device gathers each gradient and copies it
                                   ///< to all devices
  /// The algorithm that gathers rows, if it is not the algorithm for dense gradients.
  std::optional<AlgorithmChoice> gathered_by;
  bool lengths_first = false;  ///< true if replicas exchange their numbers of rows before the rows
  /// If replicas have different numbers of rows, some programs reduce the sparse gradient as if it
  /// were dense. For such a program, this is its name, which a note mentions. Empty: rows are
  /// gathered in any case.
  std::string whole_if_rows_differ;
  bool after_last_pack =
      false;  ///< true if, with serial launches, sparse gradients come after the last dense pack
  /// True if, with concurrent launches, the gather of the indices does not wait for the gather of
  /// the values.
  bool indices_beside_values = false;
};

/// The rules by which a strategy aggregates variables with separate values on each replica, before
/// a checkpoint.
struct CheckpointRules {
  std::optional<StrategyProblem> refused;
  bool on_cpu = false;  ///< true if each value is copied to its worker's CPU and summed there
  /// The algorithm that sums the values, if it is not the algorithm for gradients.
  std::optional<AlgorithmChoice> by;
};

class Framework;
class AlgorithmText;
class CustomAlgorithm;

/// An algorithm from a file.
struct CustomChoice {
  std::string file;  ///< name of the file as in the scenario
  std::string path;  ///< path at which the file was found
  std::shared_ptr<const AlgorithmText> text;
  std::vector<AlgorithmParameter> set;
  std::shared_ptr<const CustomAlgorithm>
      made;  ///< the algorithm, compiled for the cluster; null before the strategy is lowered
};

/// The strategy of a scenario, including all defaults.
struct Strategy {
  /// The algorithm of the collectives. If the strategy has a spec, `algorithm` is that of the
  /// spec's last entry, which applies to the largest gradients.
  AlgorithmChoice algorithm;
  std::optional<AllReduceSpec> spec;
  std::optional<CustomChoice> custom;  ///< the algorithm from a file; only if `algorithm` is
                                       ///< kCustom
  CollectiveKind collective = CollectiveKind::kAllReduce;
  Rank root = 0;
  bool out_of_place = false;
  int shards = 1;
  std::optional<int> channels;
  /// Only for nccl: for each channel, the order in which its ring visits a worker's replicas. Used
  /// only if the machine file has no rings for these replicas; empty: the orders are unknown.
  std::vector<std::vector<std::int32_t>> nccl_rings;

  std::optional<Bytes> bytes_per_pack;
  int num_packs = 0;
  Bytes agg_small_grads_max_bytes;
  int agg_small_grads_max_group = 10;
  /// True: a pack has at most agg_small_grads_max_group gradients. False: a pack has at most
  /// agg_small_grads_max_group + 2 gradients.
  bool agg_small_grads_exact_group = false;
  int all_reduce_merge_scope = 1;
  bool requested_merge_scope = false;
  int chunks_by_count = 0;  ///< number of packs with equal numbers of gradients into which the
                            ///< gradients are divided, in reverse order of creation
                            ///< (TensorFlow 2.1); 0: gradients are packed by another rule
  bool pad_packs = false;   ///< true if packs are padded so that they can be divided evenly
  TfRuntime tf_runtime;     ///< only for tf_ring
  std::shared_ptr<const Framework>
      framework;  ///< framework that has determined the settings above (core/framework); null: none
  /// The servers that store variables; nullopt: every replica stores all of them.
  std::optional<Servers> servers;
  /// Only for reduction_to_one_device: the rank that sums; nullopt: the CPU of the first worker
  /// sums.
  std::optional<Rank> reduce_to = Rank{0};
  HierarchicalCopy hierarchical_copy;  ///< only for hierarchical_copy
  bool independent = false;            ///< true if gradients are not reduced at all
  std::string distribution_name;       ///< for display: the distribution strategy, such as
                                       ///< "MirroredStrategy (NcclAllReduce)"
  std::string reduced_by;              ///< for display: the component that reduces, such as
                           ///< "CollectiveAllReduce TF_2_4, implementation NCCL"; may be ""
  SparseRules sparse;
  CheckpointRules checkpoint;

  Merging merging = Merging::kScopedAllocator;
  Launch launch = Launch::kConcurrent;
  Reduction reduction = Reduction::kSum;
  Division division = Division::kInCollective;  ///< only if `reduction` is kMean
  Update update = Update::kPerPack;
  Staging staging = Staging::kViaHost;
  /// True if the user has set `staging`; false if it is the algorithm's default.
  bool requested_staging = false;
  std::optional<Launch> requested_launch;
  std::optional<Merging> requested_merging;
  std::optional<Update> requested_update;
  /// Only for combinations with NCCL inside workers, such as nccl/ring. True: the stage across
  /// workers begins after NCCL is complete on all GPUs of the worker, as with TensorFlow's control
  /// edges. False: the stage across workers begins after NCCL is complete on the worker's first
  /// GPU.
  bool waits_for_workers = false;
  /// The number of NCCL communicators among which the packs are distributed round-robin, if
  /// launches are concurrent. The packs of one communicator run one after the other.
  int nccl_communicators = 1;
  Time launch_overhead;
  bool requested_launch_overhead = false;
  std::optional<Compression> compression;

  LaunchOrder launch_order = LaunchOrder::kByPacking;
  /// True if packs have instance keys whatever the launch order is (collective_keys.h).
  bool instance_keys = false;
  std::optional<Time> timeout;   ///< timeout for the start of a collective; the same timeout
                                 ///< applies to its completion
  Notes notes;                   ///< explanations for the user
  std::string reduce_to_device;  ///< name of the device as in the scenario; reduce_to is the rank
                                 ///< of this device
  /// For each field of this struct that a framework's option has set, the path of this option, such
  /// as "tensorflow.tf_cnn_benchmarks.gradient_repacking" for the field "num_packs". Problems with
  /// the field are reported at the path of this option.
  std::map<std::string, std::string> written_as;

  /// Returns a strategy with an algorithm and its defaults, which are those of TensorFlow. The
  /// collectives of NCCL run one after the other and read GPU memory directly. ring and nccl are
  /// CollectiveReduce ops, which the ScopedAllocator merges.
  static Strategy for_algorithm(AlgorithmChoice algorithm);
  /// Returns the reduction that NCCL computes if it executes the whole collective.
  [[nodiscard]] Reduction reduction_by_nccl() const {
    return reduction == Reduction::kMean && division != Division::kInCollective ? Reduction::kSum
                                                                                : reduction;
  }
  /// Sets the algorithm and its defaults, except for settings that the user has set.
  void take(AlgorithmChoice algorithm);
  /// Applies the user's settings of merging and launch, if there are any.
  void apply_overrides();
};

/// The default launch time of a collective on GPUs, if no predicted time of NCCL includes the
/// launch: the shortest of the launch times that were fitted for kernels with protocol LL
/// (launch_ll in scenarios/nccl_time.csv). The shortest time is that of Hopper; the others are 7.7
/// us for Volta, 8.0 us for Blackwell and 10.2 us for Ampere. The time for which kernels poll flags
/// between schedule steps is part of the latency of links.
inline constexpr Time kGpuLaunch = nanoseconds(5'400);

/// The maximum number of ranks in one collective, including helpers (devices without a replica that
/// add up data).
inline constexpr std::int64_t kMaxRanks = 2'000'000'000;

/// Returns the reasons why `strategy` cannot run on `cluster`. For a strategy with a spec, use
/// problems_on() (all_reduce_spec.h).
std::vector<StrategyProblem> problems_of(const Strategy& strategy, const Cluster& cluster);

}  // namespace tutti::core
