#pragma once

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns `schedule` applied to the elements of every rank's data from `offset` on. Scratch
/// offsets do not change.
std::unique_ptr<Schedule> at_offset(std::shared_ptr<const Schedule> schedule, std::int64_t offset);

}  // namespace tutti::core
