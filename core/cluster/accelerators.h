#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/tf_config.h"

namespace tutti::core {

/// The devices that each task's server lists: "GPU:0", or in full
/// "/job:worker/replica:0/task:0/device:GPU:0".
using ListedDevices = std::map<TfConfigTask, std::vector<std::string>>;

/// Returns how many accelerators of each type `task` has, by default the task that the
/// configuration names as its own. CPUs do not count. Empty if the task does not exist, or has
/// none.
/// SOURCE: tensorflow/python/distribute/cluster_resolver/cluster_resolver.py, num_accelerators,
/// get_accelerator_devices; tfconfig_cluster_resolver.py, num_accelerators.
std::map<std::string, std::int64_t> num_accelerators(
    const TfConfig& config, const ListedDevices& devices,
    const std::optional<TfConfigTask>& task = std::nullopt);

}  // namespace tutti::core
