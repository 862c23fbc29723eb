#pragma once

// TensorFlow's all_reduce_spec: selects the algorithm for a gradient by its size.
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
  std::int64_t limit = -1;  ///< size of the largest gradient that the entry takes, in the spec's
                            ///< unit; negative: no limit
};

/// The program whose interpretation of the spec applies (core/proto/scenario.proto,
/// AllReduceSpec.Api; likewise below).
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

/// One of the eight algorithms of TensorFlow's specs. rechd is not included: TensorFlow has it only
/// across workers.
struct SpecAlgorithm {
  /// TensorFlow's interpretation of an entry's shards.
  enum class Shards : std::uint8_t {
    kUsed,
    kUsedByMultiWorkerAllReduce,  ///< tf_cnn_benchmarks always sums on worker 0's CPU
    kIgnored,
    kOneRing,   ///< ignored with one worker; across several workers always one ring
    kAllHosts,  ///< ignored: sums on the CPUs of all workers, the maximum number of shards
  };
  std::string_view name;
  AlgorithmChoice algorithm;
  Shards shards = Shards::kUsed;
  bool in_one_process = false;  ///< TensorFlow supports it only inside one worker
  bool halves_evenly =
      false;  ///< TensorFlow fails if a pack's elements are not a multiple of the number of workers
};

/// Returns the algorithm of that name in a spec.
std::optional<AlgorithmChoice> parse_spec_algorithm(std::string_view name);
/// Returns the names of all eight.
std::vector<std::string> spec_algorithm_names();
/// Returns the algorithm of a spec; null if specs do not have it.
const SpecAlgorithm* find_spec_algorithm(AlgorithmChoice algorithm);

/// Formats a spec: "pscpu:2048:pscpu#2:65536:xring".
std::string to_text(const AllReduceSpec& spec);

/// The size of a gradient, for comparison with limits.
struct LimitedGradient {
  std::int64_t elements = 0;
  Bytes bytes;
};
/// Returns the entry that takes each gradient; -1 if all entries have limits and the gradient
/// exceeds them.
std::vector<int> entries_of(const AllReduceSpec& spec, std::span<const LimitedGradient> gradients);

/// Returns the gradients in the order in which MultiWorkerAllReduce returns them: entry by entry,
/// not in input order.
std::vector<int> result_order(std::span<const int> entry_of_gradient);

/// A problem with an entry: its field of SpecEntry (or none), and a text with the remedy.
struct SpecProblem {
  std::size_t entry = 0;
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kInvalid;
};
/// Returns the problems that do not depend on the cluster: names, limits out of order. With literal
/// validation, TensorFlow checks only shards.
std::vector<SpecProblem> problems_of(const AllReduceSpec& spec);

/// Returns `strategy` for the gradients of one entry of its spec: without a spec, and without
/// settings that TensorFlow ignores.
/// REQUIRES: the entry's algorithm is known.
Strategy for_entry(const Strategy& strategy, std::size_t entry);

/// Returns the problems that prevent an entry of `strategy`'s spec from running on `cluster`.
std::vector<SpecProblem> problems_on(const Strategy& strategy, std::size_t entry,
                                     const Cluster& cluster);

}  // namespace tutti::core
