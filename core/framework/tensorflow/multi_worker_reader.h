#pragma once

#include "core/framework/tensorflow/collective_all_reduce.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// Reads strategy.tensorflow.multi_worker_mirrored.
/// ERRORS (of `fields`): the chosen TensorFlow release does not have an option; strategy.update
/// contradicts experimental_aggregate_gradients.
CollectiveAllReduce collective_all_reduce_from(const proto::Strategy& message, Fields& fields);

}  // namespace tutti::core
