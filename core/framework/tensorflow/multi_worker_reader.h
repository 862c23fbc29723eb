#pragma once

#include <optional>

#include "core/framework/tensorflow/collective_all_reduce.h"
#include "core/strategy/tf_runtime.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
class TfRing;
}  // namespace tutti::proto

namespace tutti::core {

/// What a scenario says of TensorFlow's collective runtime. Problems go to `fields`.
TfRuntime tf_runtime_from(const proto::TfRing& message, Fields& fields);

/// What it says of MultiWorkerMirroredStrategy, and whether other fields of the strategy contradict it; nothing if it says
/// nothing of it. Problems go to `fields`.
std::optional<CollectiveAllReduce> collective_all_reduce_from(const proto::Strategy& message, Fields& fields);

}  // namespace tutti::core
