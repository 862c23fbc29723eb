#pragma once

#include <map>
#include <optional>
#include <string>

#include "core/framework/registry.h"
#include "core/framework/tensorflow/collective_all_reduce.h"
#include "core/framework/tensorflow/distribution.h"
#include "core/framework/tensorflow/packing.h"

namespace tutti::core {

/// What a scenario says of TensorFlow. One of the first two, or a distribution; a distribution of tf_cnn_benchmarks may have a spec.
struct TensorFlow {
  std::optional<CollectiveAllReduce> collective_all_reduce;  ///< MultiWorkerMirroredStrategy
  std::optional<AllReduceSpec> spec;  ///< MultiWorkerAllReduce, tf_cnn_benchmarks --all_reduce_spec
  std::string spec_text;              ///< as which it was written, if it was
  std::optional<Distribution> distribution;
  TensorFlowPacking packing;
  int shards = 1;  ///< tf_cnn_benchmarks' collective#2
  /// Where fields of the strategy that this sets are written (Strategy::written_as).
  std::map<std::string, std::string> written_as;
};

std::shared_ptr<const Framework> tensorflow(TensorFlow options);
/// The options that a strategy gives it, and complaints of what contradicts them; null if a spec cannot be made out.
std::shared_ptr<const Framework> read_tensorflow(const StrategyText& text);
/// How programs of TensorFlow are told to do what the strategy does, or what comes near it.
std::vector<ProgramSetting> tensorflow_settings(const Planned& planned);

FrameworkKind tensorflow_kind();

}  // namespace tutti::core
