#pragma once

#include <string>

#include "core/base/error.h"
#include "real/join/launcher.h"

namespace tutti::real {

/// The place of a task in TF_CONFIG, as TensorFlow's TFConfigClusterResolver reads it: JSON with `cluster` (a list of
/// addresses per job, or addresses by index) and `task` (`type`, `index`). Workers are the chief, if there is one, and
/// then the tasks of job worker; the first of them coordinates.
/// ERRORS (requests): no such JSON; the task is missing or none of the cluster's; a task of job ps or evaluator, which
/// has no part in a run.
core::Expected<Launch> read_tf_config(const std::string& text);

}  // namespace tutti::real
