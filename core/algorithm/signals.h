#pragma once

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns a schedule in which every rank sends an empty message to rank 0, as a signal. Rank 0
/// continues when it has received the signals of all ranks. The schedule models a control edge
/// between devices in TensorFlow. Time with one port per rank: α, the latency of a message.
std::unique_ptr<Schedule> signals_to_first(std::int32_t ranks, Engine engine);

}  // namespace tutti::core
