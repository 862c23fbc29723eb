#pragma once

#include <functional>

#include "real/worker/step_log.h"

namespace tutti::proto {
class StepResult;
}

namespace tutti::real {

/// Writes the record of a worker's step to a message. `shown` converts a time of its monotonic
/// clock to the time that its clock shows, both in nanoseconds.
void write_step(const WorkerStep& result, const std::function<std::int64_t(std::int64_t)>& shown,
                proto::StepResult& message);

}  // namespace tutti::real
