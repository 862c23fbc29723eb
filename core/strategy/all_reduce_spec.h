#pragma once

// TensorFlow's all_reduce_spec: which algorithm moves a gradient is decided by its size.
// SOURCE: tensorflow/python/distribute/cross_device_ops.py (1.15), MultiWorkerAllReduce; tensorflow/benchmarks
// scripts/tf_cnn_benchmarks/allreduce.py.

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
  std::string name;                          ///< as TensorFlow's users write it
  std::optional<AlgorithmChoice> algorithm;  ///< nothing: TensorFlow knows none of this name
  int shards = 1;
  std::int64_t limit = -1;  ///< the largest gradient that it takes, in the spec's unit; negative: all that are left
};

/// Whose meaning a spec has (core/proto/scenario.proto, AllReduceSpec.Api; likewise below).
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

  /// pscpu/pscpu with 2 shards: that of MultiWorkerAllReduce's constructor.
  static AllReduceSpec usual();
};

/// An algorithm as TensorFlow's specs have it, one of eight. rechd is none of them: TensorFlow has it
/// across workers only.
struct SpecAlgorithm {
  /// What TensorFlow does with an entry's shards.
  enum class Shards : std::uint8_t {
    kUsed,
    kUsedByMultiWorkerAllReduce,  ///< tf_cnn_benchmarks sums on worker 0's CPU, whatever they are
    kIgnored,
    kOneRing,   ///< ignored with one worker; there is one ring across several
    kAllHosts,  ///< ignored: it sums on the CPUs of all workers, than which there cannot be more
  };
  std::string_view name;
  AlgorithmChoice algorithm;
  Shards shards = Shards::kUsed;
  bool in_one_process = false;  ///< TensorFlow has it inside one worker only
  bool halves_evenly = false;   ///< TensorFlow fails where a pack's elements do not divide by the workers
};

/// The algorithm of that name in a spec.
std::optional<AlgorithmChoice> parse_spec_algorithm(std::string_view name);
/// The names of all eight.
std::vector<std::string> spec_algorithm_names();
/// An algorithm as specs have it; null if they have not.
const SpecAlgorithm* find_spec_algorithm(AlgorithmChoice algorithm);

/// "pscpu:2048:pscpu#2:65536:xring".
std::string to_text(const AllReduceSpec& spec);

/// A gradient as limits are held against it.
struct LimitedGradient {
  std::int64_t elements = 0;
  Bytes bytes;
};
/// By gradient: the entry that takes it; -1 if all have limits, and it is beyond them.
std::vector<int> entries_of(const AllReduceSpec& spec, std::span<const LimitedGradient> gradients);

/// The gradients in the order in which MultiWorkerAllReduce returns them: entry by entry, and never put back into theirs.
std::vector<int> result_order(std::span<const int> entry_of_gradient);

/// What is wrong with an entry: the field of SpecEntry (or none), and a text with the remedy.
struct SpecProblem {
  std::size_t entry = 0;
  std::string field;
  std::string text;
  ProblemCode code = ProblemCode::kInvalid;
};
/// Whatever the cluster is: names, limits out of order. If it is taken literally, TensorFlow looks at nothing but shards.
std::vector<SpecProblem> problems_of(const AllReduceSpec& spec);

/// `strategy` for what an entry of its spec takes: without a spec. What TensorFlow ignores is left out.
/// REQUIRES: the entry's algorithm is known.
Strategy for_entry(const Strategy& strategy, std::size_t entry);

/// What keeps an entry of `strategy`'s spec from running on `cluster`.
std::vector<SpecProblem> problems_on(const Strategy& strategy, std::size_t entry, const Cluster& cluster);

}  // namespace tutti::core
