#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns warnings about extrapolation: one sentence for each part of a scenario whose time is
/// predicted from measurements that were made under other conditions. Examples are layer times that
/// were measured with another batch size or on another device, and a cluster that `tutti calibrate`
/// fitted to other pack sizes or to another number of workers. The result also contains the warning
/// of note_on_launches(), if there is one.
std::vector<std::string> extrapolations(const Scenario& scenario);

/// Returns a warning if the launch of a collective between GPUs takes no time in the simulation.
/// The warning says that the predicted times of small packs are then lower bounds. Returns an empty
/// text if there is no such collective. NCCL's predicted times include the launch.
std::string note_on_launches(const Scenario& scenario);

/// True if the cluster's parameters were fitted to measurements (cluster.calibrated).
bool is_calibrated(const Scenario& scenario);

}  // namespace tutti::core
