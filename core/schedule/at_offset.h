#pragma once

#include <memory>

#include "core/schedule/schedule.h"

namespace tutti::core {

/// Returns a schedule that equals `schedule`, except that all offsets into the ranks' data buffers
/// are increased by `offset` elements. Offsets into scratch buffers do not change.
std::unique_ptr<Schedule> at_offset(std::shared_ptr<const Schedule> schedule, std::int64_t offset);

}  // namespace tutti::core
