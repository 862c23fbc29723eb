#pragma once

#include <string>

#include "core/base/error.h"
#include "real/join/launcher.h"

namespace tutti::real {

/// Returns the launch, and so the rank, of this process's task in TF_CONFIG. Workers are the chief,
/// if there is one, and then the tasks of job `worker`; the first worker coordinates.
/// ERRORS (requests): those of core::read_tf_config and core::validate; there is no worker; the
/// task is missing; the task is of job `ps` or `evaluator`, which do not take part in a run.
core::Expected<Launch> launch_of_tf_config(const std::string& text);

}  // namespace tutti::real
