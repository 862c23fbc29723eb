#pragma once

#include <vector>

namespace tutti::core {

/// Divides `devices` devices, which help to reduce packs, into groups = ceil(devices / group_size)
/// groups of `group_size` devices. All groups together have groups · group_size places. Place i
/// belongs to group i mod groups, and is taken by device i mod devices. The devices of a group are
/// therefore not consecutive. If group_size does not divide devices, the first devices belong to
/// two groups. Pack t uses group t mod groups. REQUIRES: 1 ≤ group_size ≤ devices. SOURCE:
/// tensorflow/python/distribute/cross_device_utils.py, group_device_names.
std::vector<std::vector<int>> group_devices(int devices, int group_size);

}  // namespace tutti::core
