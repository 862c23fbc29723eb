#pragma once

#include <string>

#include "core/base/error.h"
#include "real/join/launcher.h"

namespace tutti::real {

/// Returns the rank of the task that TF_CONFIG names. Workers are the chief, if there is one, and
/// then the tasks of job worker; the first of them coordinates.
/// ERRORS (requests): those of core::read_tf_config and core::validate; there is no worker; the
/// task is not stated; a task of job ps or evaluator, which has no part in a run.
core::Expected<Launch> launch_of_tf_config(const std::string& text);

}  // namespace tutti::real
