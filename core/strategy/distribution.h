#pragma once

#include <cstdint>

namespace tutti::core {

/// Which of tf.distribute's strategies, or of other programs' modes, a strategy was made of.
/// (MultiWorkerMirroredStrategy is CollectiveAllReduce, a spec MultiWorkerAllReduce.)
enum class Distribution : std::uint8_t {
  kNone,
  kOneDevice,
  kMirrored,
  kCentralStorage,
  kParameterServer,
  kTfCnnBenchmarks,
  kBytePs,
};

/// Variables that are synchronised when read are copied to the worker's CPU and added up there.
/// SOURCE: tensorflow/python/distribute/values.py, SyncOnReadVariable._get_cross_replica; mirrored_strategy.py, _reduce_to.
constexpr bool reads_on_cpu(Distribution d) { return d == Distribution::kMirrored; }

/// A batch of IndexedSlices is gathered on the first device whatever reduces dense gradients.
/// SOURCE: tensorflow/python/distribute/cross_device_ops.py, AllReduceCrossDeviceOps._batch_reduce.
constexpr bool gathers_on_first_device(Distribution d) { return d == Distribution::kMirrored; }

/// It has embeddings: gradients may be IndexedSlices.
constexpr bool knows_slices(Distribution d) {
  return d != Distribution::kTfCnnBenchmarks && d != Distribution::kBytePs;
}

}  // namespace tutti::core
