#pragma once

// TensorFlow's all_reduce_spec, which selects the algorithm for each gradient by the gradient's
// size.
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
  std::string name;                          ///< name as TensorFlow's users write it
  std::optional<AlgorithmChoice> algorithm;  ///< nullopt: TensorFlow has no algorithm of this name
  int shards = 1;
  std::int64_t limit = -1;  ///< maximum size (inclusive) of the gradients of this entry, in the
                            ///< spec's unit; negative: no limit
};

/// The program that interprets the spec. The enumerations SpecApi, LimitUnit, ResultOrder and
/// SpecValidation mirror those of AllReduceSpec in core/proto/framework/tensorflow.proto.
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

  /// Returns the default of MultiWorkerAllReduce's constructor: pscpu/pscpu with 2 shards.
  static AllReduceSpec usual();
};

/// One of the eight algorithms of TensorFlow's specs. rechd alone is not in the list, because
/// TensorFlow supports it only across workers.
struct SpecAlgorithm {
  /// The effect of an entry's number of shards in TensorFlow.
  enum class Shards : std::uint8_t {
    kUsed,
    kUsedByMultiWorkerAllReduce,  ///< shards are used by MultiWorkerAllReduce only;
                                  ///< tf_cnn_benchmarks always sums on worker 0's CPU
    kIgnored,
    kOneRing,  ///< shards are ignored if there is one worker; with several workers, there is always
               ///< one ring
    kAllHosts,  ///< shards are ignored: the CPUs of all workers sum, which is the maximum number of
                ///< shards
  };
  std::string_view name;
  AlgorithmChoice algorithm;
  Shards shards = Shards::kUsed;
  bool in_one_process = false;  ///< true if TensorFlow supports the algorithm only inside one
                                ///< worker
  bool halves_evenly = false;  ///< true if TensorFlow requires that the number of a pack's elements
                               ///< is a multiple of the number of workers
};

/// Returns the algorithm with this name in a spec; nullopt if there is none.
std::optional<AlgorithmChoice> parse_spec_algorithm(std::string_view name);
/// Returns the names of the eight algorithms that TensorFlow's specs support.
std::vector<std::string> spec_algorithm_names();
/// Returns the row of this algorithm in the list of TensorFlow's algorithms; null if specs do not
/// support the algorithm.
const SpecAlgorithm* find_spec_algorithm(AlgorithmChoice algorithm);

/// Formats a spec: "pscpu:2048:pscpu#2:65536:xring".
std::string to_text(const AllReduceSpec& spec);

/// The size of a gradient in elements and in bytes, the two units of limits.
struct LimitedGradient {
  std::int64_t elements = 0;
  Bytes bytes;
};
/// Returns the index of the entry that takes each gradient; -1 if the gradient exceeds the limits
/// of all entries.
std::vector<int> entries_of(const AllReduceSpec& spec, std::span<const LimitedGradient> gradients);

/// Returns the indices of the gradients in the order in which MultiWorkerAllReduce returns their
/// results: entry by entry, instead of in the order of its input.
std::vector<int> result_order(std::span<const int> entry_of_gradient);

/// A problem with an entry: the field of SpecEntry at fault ("" if there is none), and a text with
/// the remedy.
struct SpecProblem {
  std::size_t entry = 0;
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kInvalid;
};
/// Returns the problems that do not depend on the cluster, such as unknown names and limits out of
/// order. With literal validation, only shards are checked, as in TensorFlow.
std::vector<SpecProblem> problems_of(const AllReduceSpec& spec);

/// Returns the strategy for the gradients of one entry of the spec of `strategy`. The result has no
/// spec, and no settings that TensorFlow ignores for this entry.
/// REQUIRES: the entry's algorithm is known.
Strategy for_entry(const Strategy& strategy, std::size_t entry);

/// Returns the problems that prevent an entry of `strategy`'s spec from running on `cluster`.
std::vector<SpecProblem> problems_on(const Strategy& strategy, std::size_t entry,
                                     const Cluster& cluster);

}  // namespace tutti::core
