#pragma once

#include <optional>

#include "core/framework/tensorflow/distribution.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// The strategy of tf.distribute that holds variables, or the mode of tf_cnn_benchmarks, that a strategy's `tensorflow` says; nothing if it
/// says none. ERRORS (of `fields`): flags that other modes have; fields of the strategy that do nothing where variables are on servers.
std::optional<Distribution> distribution_from(const proto::Strategy& message, Fields& fields);

}  // namespace tutti::core
