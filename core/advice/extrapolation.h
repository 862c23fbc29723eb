#pragma once

#include <string>
#include <vector>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// Returns warnings about extrapolation: one sentence for each part of a scenario that is outside
/// the range of the measurements on which its predicted times are based. Examples are layer times
/// that were measured with another batch size or on another device, and a cluster that `tutti
/// calibrate` fitted to other pack sizes or to another number of workers. The result also has
/// note_on_launches().
std::vector<std::string> extrapolations(const Scenario& scenario);

/// Returns a warning if collectives between GPUs begin without a launch time, so that the predicted
/// times of small packs are lower bounds; empty if not. NCCL's predicted times include the launch.
std::string note_on_launches(const Scenario& scenario);

/// True if the cluster's parameters were fitted to measurements (cluster.calibrated).
bool is_calibrated(const Scenario& scenario);

}  // namespace tutti::core
