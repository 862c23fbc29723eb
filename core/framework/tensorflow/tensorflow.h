#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/framework/registry.h"
#include "core/framework/tensorflow/collective_all_reduce.h"
#include "core/framework/tensorflow/distribution.h"
#include "core/framework/tensorflow/packing.h"

namespace tutti::core {

/// The TensorFlow settings of a scenario. Either `collective_all_reduce`, `spec` or `distribution`
/// is set; a distribution of tf_cnn_benchmarks may also have a spec.
struct TensorFlow {
  std::optional<CollectiveAllReduce> collective_all_reduce;  ///< MultiWorkerMirroredStrategy
  std::optional<AllReduceSpec> spec;  ///< MultiWorkerAllReduce, tf_cnn_benchmarks --all_reduce_spec
  std::string spec_text;  ///< text of the spec, if the scenario has it as a string; otherwise empty
  std::optional<Distribution> distribution;
  TensorFlowPacking packing;
  int shards = 1;  ///< shards of tf_cnn_benchmarks' collective#2
  /// The paths in the scenario of those settings that determine fields of Strategy
  /// (Strategy::written_as).
  std::map<std::string, std::string> written_as;
};

std::shared_ptr<const Framework> tensorflow(TensorFlow options);
/// Reads the options from the strategy of a scenario, and reports contradictions. Returns null if a
/// spec cannot be read.
std::shared_ptr<const Framework> read_tensorflow(const StrategyText& text);
/// Returns the settings that make TensorFlow programs use the strategy, or approximate it.
std::vector<ProgramSetting> tensorflow_settings(const Planned& planned);

FrameworkKind tensorflow_kind();

}  // namespace tutti::core
