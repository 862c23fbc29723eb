#pragma once

#include <optional>

#include "core/framework/tensorflow/distribution.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// The strategy of tf.distribute, or the mode of tf_cnn_benchmarks, that a scenario's strategy says; nothing if it says none. Fields beside
/// it that contradict it are complained of.
std::optional<Distribution> distribution_from(const proto::Strategy& message, Fields& fields);

}  // namespace tutti::core
