#include "core/packing/device_groups.h"

#include "core/base/check.h"

namespace tutti::core {

std::vector<std::vector<int>> group_devices(int devices, int group_size) {
  TUTTI_CHECK(group_size >= 1 && group_size <= devices, "{} devices, group_size = {}", devices,
              group_size);
  const int groups = (devices + group_size - 1) / group_size;
  std::vector<std::vector<int>> assigned(groups);
  for (int i = 0; i < groups * group_size; ++i) assigned[i % groups].push_back(i % devices);
  return assigned;
}

}  // namespace tutti::core
