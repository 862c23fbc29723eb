#pragma once

// TensorFlow's all_reduce_spec, which chooses an algorithm for each gradient according to the
// gradient's size.
// SOURCE: tensorflow/python/distribute/cross_device_ops.py (1.15), MultiWorkerAllReduce;
// tensorflow/benchmarks scripts/tf_cnn_benchmarks/allreduce.py.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/strategy/algorithm.h"

namespace tutti::core {

struct Strategy;
class Cluster;

struct SpecEntry {
  std::string name;                          ///< name of the algorithm as users write it in
                                             ///< TensorFlow
  std::optional<AlgorithmChoice> algorithm;  ///< nullopt: TensorFlow does not know the name
  int shards = 1;
  std::int64_t limit = -1;  ///< maximum size of the gradients that belong to this entry, inclusive,
                            ///< in the spec's unit; negative: no limit
};

/// The program whose rules apply to a spec: MultiWorkerAllReduce or tf_cnn_benchmarks. The values
/// of SpecApi, LimitUnit, ResultOrder and SpecValidation are those of AllReduceSpec in
/// core/proto/framework/tensorflow.proto.
enum class SpecApi { kMultiWorkerAllReduce, kTfCnnBenchmarks };
enum class LimitUnit { kBytes, kElements };
enum class ResultOrder { kRestored, kByEntry };
enum class SpecValidation { kStrict, kLiteral };

struct AllReduceSpec {
  std::vector<SpecEntry> entries;
  SpecApi api = SpecApi::kMultiWorkerAllReduce;
  LimitUnit limit_unit = LimitUnit::kBytes;
  ResultOrder result_order = ResultOrder::kRestored;
  SpecValidation validation = SpecValidation::kStrict;

  /// Returns the default spec of MultiWorkerAllReduce: pscpu/pscpu with 2 shards.
  static AllReduceSpec usual();
};

/// One of the eight algorithms that a spec can name. rechd alone is not one of them, because
/// TensorFlow supports it only across workers.
struct SpecAlgorithm {
  /// The effect that the number of shards in an entry has in TensorFlow.
  enum class Shards : std::uint8_t {
    kUsed,
    kUsedByMultiWorkerAllReduce,  ///< only MultiWorkerAllReduce uses shards; tf_cnn_benchmarks
                                  ///< always sums on worker 0's CPU
    kIgnored,
    kOneRing,   ///< with one worker, the number of shards is ignored; with several workers, there
                ///< is always one ring
    kAllHosts,  ///< the number of shards is ignored, because the CPUs of all workers always sum
  };
  std::string_view name;
  AlgorithmChoice algorithm;
  Shards shards = Shards::kUsed;
  bool in_one_process = false;  ///< true if TensorFlow supports the algorithm only on a single
                                ///< worker
  bool halves_evenly = false;   ///< true if TensorFlow requires that the number of workers divides
                                ///< the number of elements in a pack
};

/// Returns the algorithm that has this name in a spec; nullopt if there is none.
std::optional<AlgorithmChoice> parse_spec_algorithm(std::string_view name);
/// Returns the names of the eight algorithms that a spec can name.
std::vector<std::string> spec_algorithm_names();
/// Returns this algorithm's row in the list of TensorFlow's algorithms; null if a spec cannot name
/// the algorithm.
const SpecAlgorithm* find_spec_algorithm(AlgorithmChoice algorithm);

/// Formats a spec, for example "pscpu:2048:pscpu#2:65536:xring".
std::string to_text(const AllReduceSpec& spec);

/// The size of a gradient in elements and in bytes; limits have one of these units.
struct LimitedGradient {
  std::int64_t elements = 0;
  Bytes bytes;
};
/// Returns, for each gradient, the index of the entry to which it belongs; -1 if it exceeds the
/// limits of all entries.
std::vector<int> entries_of(const AllReduceSpec& spec, std::span<const LimitedGradient> gradients);

/// Returns the indices of the gradients in the order in which MultiWorkerAllReduce returns its
/// results: entry by entry, not in the order of its input.
std::vector<int> result_order(std::span<const int> entry_of_gradient);

/// A problem with an entry: the invalid field of SpecEntry ("" if no single field is invalid), and
/// a text with a remedy.
struct SpecProblem {
  std::size_t entry = 0;
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kInvalid;
};
/// Returns the problems that do not depend on the cluster, such as unknown names and limits that do
/// not increase. If the validation is literal, only shards are checked, as in TensorFlow.
std::vector<SpecProblem> problems_of(const AllReduceSpec& spec);

/// Returns the strategy for the gradients that belong to one entry of the spec of `strategy`. The
/// result has no spec. Leaves out settings that TensorFlow ignores for this entry.
/// REQUIRES: the algorithm of the entry is known.
Strategy for_entry(const Strategy& strategy, std::size_t entry);

/// Returns the problems because of which an entry of `strategy`'s spec cannot run on `cluster`.
std::vector<SpecProblem> problems_on(const Strategy& strategy, std::size_t entry,
                                     const Cluster& cluster);

}  // namespace tutti::core
