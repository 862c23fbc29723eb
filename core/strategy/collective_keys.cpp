#include "core/strategy/collective_keys.h"

#include <algorithm>
#include <numeric>

namespace tutti::core {

std::int64_t CollectiveKeys::group(const std::vector<std::string>& devices) {
  std::vector<std::string> local;
  for (const std::string& device : devices) {
    // Returns the short form of a device's name: "GPU:0" for
    // "/job:worker/replica:0/task:1/device:GPU:0".
    constexpr std::string_view kDevice = "device:";
    const std::size_t at = device.rfind(kDevice);
    local.push_back(at == std::string::npos ? device : device.substr(at + kDevice.size()));
  }
  std::sort(local.begin(), local.end());
  return groups_.try_emplace(std::move(local), static_cast<std::int64_t>(groups_.size()) + 1)
      .first->second;
}

std::vector<int> launch_order(const std::vector<std::int64_t>& instance_keys) {
  std::vector<int> order(instance_keys.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return instance_keys[a] > instance_keys[b]; });
  return order;
}

}  // namespace tutti::core
