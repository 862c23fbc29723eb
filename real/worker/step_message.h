#pragma once

#include <functional>

#include "real/worker/step_log.h"

namespace tutti::proto {
class StepResult;
}

namespace tutti::real {

/// Writes a worker's record of a step to a message. `shown` converts a time of the worker's
/// monotonic clock to the time that the worker reports, both in nanoseconds.
void write_step(const WorkerStep& result, const std::function<std::int64_t(std::int64_t)>& shown,
                proto::StepResult& message);

}  // namespace tutti::real
