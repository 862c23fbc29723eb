#pragma once

#include <vector>

namespace tutti::core {

/// Divides `devices` helper devices into groups of `group_size`: there are ceil(devices /
/// group_size) groups; slot i goes to group i mod groups and holds device i mod devices, so groups
/// are strided and the first devices are used again if it does not divide. Pack t uses group t mod
/// groups. REQUIRES: 1 ≤ group_size ≤ devices. SOURCE:
/// tensorflow/python/distribute/cross_device_utils.py, group_device_names.
std::vector<std::vector<int>> group_devices(int devices, int group_size);

}  // namespace tutti::core
