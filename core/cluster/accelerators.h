#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/tf_config.h"

namespace tutti::core {

/// What the servers of a cluster list as theirs, by task: "GPU:0", or as it is written out, "/job:worker/replica:0/task:0/device:GPU:0".
using ListedDevices = std::map<TfConfigTask, std::vector<std::string>>;

/// How many accelerators of each type a task has: `task`, or the one that the configuration says this is. CPUs are none. Empty where there is no such
/// task, or it has none.
/// SOURCE: tensorflow/python/distribute/cluster_resolver/cluster_resolver.py, num_accelerators, get_accelerator_devices;
/// tfconfig_cluster_resolver.py, num_accelerators.
std::map<std::string, std::int64_t> num_accelerators(const TfConfig& config, const ListedDevices& devices,
                                                     const std::optional<TfConfigTask>& task = std::nullopt);

}  // namespace tutti::core
