#pragma once

#include <functional>

#include "real/worker/step_log.h"

namespace tutti::proto {
class StepResult;
}

namespace tutti::real {

/// Writes down what a worker did in a step. `shown` is what its clock shows at a time of its monotonic clock, both in
/// nanoseconds.
void write_step(const WorkerStep& result, const std::function<std::int64_t(std::int64_t)>& shown,
                proto::StepResult& message);

}  // namespace tutti::real
