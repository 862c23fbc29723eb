#include "core/cluster/accelerators.h"

namespace tutti::core {

std::map<std::string, std::int64_t> num_accelerators(const TfConfig& config,
                                                     const ListedDevices& devices,
                                                     const std::optional<TfConfigTask>& task) {
  std::map<std::string, std::int64_t> counts;
  const std::optional<TfConfigTask> of = task ? task : config.task();
  const auto listed = of ? devices.find(*of) : devices.end();
  if (listed == devices.end()) return counts;
  for (const std::string& name : listed->second) {
    const std::size_t device = name.rfind("device:");
    const std::size_t begin =
        device == std::string::npos ? 0 : device + std::string("device:").size();
    const std::string type = name.substr(begin, name.find(':', begin) - begin);
    if (type != "CPU") ++counts[type];
  }
  return counts;
}

}  // namespace tutti::core
