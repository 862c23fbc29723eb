#pragma once

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// `schedule` on the elements of every rank's data from `offset` on. Scratch stays where it is.
std::unique_ptr<Schedule> at_offset(std::shared_ptr<const Schedule> schedule, std::int64_t offset);

}  // namespace tutti::core
