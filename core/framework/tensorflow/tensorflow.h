#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/framework/registry.h"
#include "core/framework/tensorflow/collective_all_reduce.h"
#include "core/framework/tensorflow/distribution.h"
#include "core/framework/tensorflow/packing.h"

namespace tutti::core {

/// The TensorFlow settings of a scenario. Exactly one of `collective_all_reduce`, `spec` and
/// `distribution` is set, except that `spec` may be set together with a distribution of
/// tf_cnn_benchmarks.
struct TensorFlow {
  std::optional<CollectiveAllReduce> collective_all_reduce;  ///< MultiWorkerMirroredStrategy
  std::optional<AllReduceSpec> spec;  ///< MultiWorkerAllReduce, tf_cnn_benchmarks --all_reduce_spec
  std::string spec_text;  ///< text of the spec, if the scenario gives it as a string; otherwise
                          ///< empty
  std::optional<Distribution> distribution;
  TensorFlowPacking packing;
  int shards = 1;  ///< shards of tf_cnn_benchmarks' collective#2
  /// For each setting that determines a field of Strategy, its path in the scenario
  /// (Strategy::written_as).
  std::map<std::string, std::string> written_as;
};

std::shared_ptr<const Framework> tensorflow(TensorFlow options);
/// Reads TensorFlow's options from the strategy of a scenario, and reports options that contradict
/// each other. Returns null if the spec is invalid.
std::shared_ptr<const Framework> read_tensorflow(const StrategyText& text);
/// Returns the settings with which TensorFlow programs use or approximate the strategy.
std::vector<ProgramSetting> tensorflow_settings(const Planned& planned);

FrameworkKind tensorflow_kind();

}  // namespace tutti::core
