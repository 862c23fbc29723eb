#pragma once

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Every rank tells rank 0, in a message of no elements, that it has come here; rank 0 goes on once all have. What a control
/// edge between devices is in TensorFlow. Time with one port per rank: α.
std::unique_ptr<Schedule> signals_to_first(std::int32_t ranks, Engine engine);

}  // namespace tutti::core
