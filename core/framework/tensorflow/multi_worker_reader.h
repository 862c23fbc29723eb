#pragma once

#include <optional>

#include "core/framework/tensorflow/collective_all_reduce.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// What a scenario says of MultiWorkerMirroredStrategy, and whether other fields of the strategy contradict it; nothing if it says
/// nothing of it. Problems go to `fields`.
std::optional<CollectiveAllReduce> collective_all_reduce_from(const proto::Strategy& message, Fields& fields);

}  // namespace tutti::core
