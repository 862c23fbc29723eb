#pragma once

#include <optional>

#include "core/framework/tensorflow/distribution.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// Reads the strategy of tf.distribute, or the mode of tf_cnn_benchmarks, from a strategy's
/// `tensorflow`; nullopt if it has none. ERRORS (of `fields`): flags of other modes; fields of the
/// strategy that have no effect with variables on servers.
std::optional<Distribution> distribution_from(const proto::Strategy& message, Fields& fields);

}  // namespace tutti::core
