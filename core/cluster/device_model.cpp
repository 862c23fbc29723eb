#include "core/cluster/device_model.h"

#include <algorithm>
#include <array>

namespace tutti::core {
namespace {

/// The names, indexed by enumerator.
constexpr std::array<std::string_view, 17> kGpuModels{
    "none", "K80",   "P100", "V100", "T4",   "A100", "A10",   "RTX_4090", "L40",
    "L40S", "GH200", "H100", "H200", "H800", "H20",  "GB200", "B200"};
constexpr std::array<std::string_view, 4> kCpuVendors{"none", "INTEL", "AMD", "ARM"};

}  // namespace

std::string_view to_string(GpuModel model) { return kGpuModels[static_cast<std::size_t>(model)]; }

std::optional<GpuModel> parse_gpu_model(std::string_view name) {
  const auto* const found = std::find(kGpuModels.begin() + 1, kGpuModels.end(), name);
  if (found == kGpuModels.end()) return std::nullopt;
  return static_cast<GpuModel>(found - kGpuModels.begin());
}

std::string gpu_model_names() {
  std::string all;
  for (std::size_t m = 1; m < kGpuModels.size(); ++m)
    all.append(m == 1 ? "" : ", ").append(kGpuModels[m]);
  return all;
}

std::string_view to_string(CpuVendor vendor) {
  return kCpuVendors[static_cast<std::size_t>(vendor)];
}

}  // namespace tutti::core
