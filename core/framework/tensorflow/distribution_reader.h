#pragma once

#include <optional>

#include "core/framework/tensorflow/distribution.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// Reads the strategy of tf.distribute, or the mode of tf_cnn_benchmarks, from strategy.tensorflow.
/// Returns nullopt if strategy.tensorflow specifies neither. ERRORS (of `fields`): a flag does not
/// belong to the chosen mode; a field of the strategy is set that has no effect if variables are on
/// servers.
std::optional<Distribution> distribution_from(const proto::Strategy& message, Fields& fields);

}  // namespace tutti::core
