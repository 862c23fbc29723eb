#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/cluster/tf_config.h"

namespace tutti::core {

/// For each task, the names of its server's devices, in the form "GPU:0" or as full names such as
/// "/job:worker/replica:0/task:0/device:GPU:0".
using ListedDevices = std::map<TfConfigTask, std::vector<std::string>>;

/// Returns the number of accelerators of `task` for each device type; CPUs are not counted. If
/// `task` is nullopt, the task of this process (`task` in TF_CONFIG) is used. The result is empty
/// if the task is not listed or has no accelerators.
/// SOURCE: tensorflow/python/distribute/cluster_resolver/cluster_resolver.py, num_accelerators,
/// get_accelerator_devices; tfconfig_cluster_resolver.py, num_accelerators.
std::map<std::string, std::int64_t> num_accelerators(
    const TfConfig& config, const ListedDevices& devices,
    const std::optional<TfConfigTask>& task = std::nullopt);

}  // namespace tutti::core
