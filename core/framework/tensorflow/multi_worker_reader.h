#pragma once

#include "core/framework/tensorflow/collective_all_reduce.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// Reads a strategy's tensorflow { multi_worker_mirrored }. ERRORS (of `fields`): options that the
/// release does not have, and updates that contradict its experimental_aggregate_gradients.
CollectiveAllReduce collective_all_reduce_from(const proto::Strategy& message, Fields& fields);

}  // namespace tutti::core
