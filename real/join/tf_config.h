#pragma once

#include <string>

#include "core/base/error.h"
#include "real/join/launcher.h"

namespace tutti::real {

/// Returns the launch that TF_CONFIG describes, with the rank of this process's task. The chief, if
/// TF_CONFIG has one, is rank 0; the tasks of job `worker` follow. Rank 0 is the coordinator.
/// ERRORS (kRequest): an error of core::read_tf_config or core::validate; there is no worker; the
/// task is missing; the task belongs to job `ps` or `evaluator`, which do not take part in a run.
core::Expected<Launch> launch_of_tf_config(const std::string& text);

}  // namespace tutti::real
