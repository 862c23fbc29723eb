#include "core/nccl/known_gpus.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace tutti::core::nccl {
namespace {

// SOURCE: developer.nvidia.com/cuda-gpus for compute capabilities, and vendors' data sheets for
// NVLink and PCIe. CPUs: DGX A100 and HGX A100 systems have AMD CPUs; DGX-1, DGX H100 and DGX B200
// have Intel CPUs; superchips have Arm CPUs. T4 and A10 have no NVLink, but are the nearest models
// of boards with the same chips that have NVLink bridges: RTX 2080 Ti (two links of 25 GB/s) and
// A40 or RTX A6000 (four links, 56.25 GB/s).
constexpr KnownGpu kGpus[] = {
    {"P100", GpuModel::kP100, GpuGeneration::kPascal, 60, 20, 12, HostCpu::kIntel, {2, 10, 3}},
    {"V100", GpuModel::kV100, GpuGeneration::kVolta, 70, 25, 12, HostCpu::kIntel, {2, 10, 3}},
    {"T4", GpuModel::kT4, GpuGeneration::kTuring, 75, 25, 12, HostCpu::kIntel, {2, 10, 3}},
    {"A100", GpuModel::kA100, GpuGeneration::kAmpere, 80, 25, 24, HostCpu::kAmd, {2, 18, 3}},
    {"A10", GpuModel::kA10, GpuGeneration::kAmpere, 86, 14.0625, 24, HostCpu::kAmd, {2, 18, 3}},
    {"RTX 4090", GpuModel::kRtx4090, GpuGeneration::kAda, 89, 0, 24, HostCpu::kAmd, {2, 18, 3}},
    {"L40", GpuModel::kL40, GpuGeneration::kAda, 89, 0, 24, HostCpu::kAmd, {2, 18, 3}},
    {"L40S", GpuModel::kL40s, GpuGeneration::kAda, 89, 0, 24, HostCpu::kAmd, {2, 18, 3}},
    {"GH200", GpuModel::kGh200, GpuGeneration::kHopper, 90, 25, 48, HostCpu::kArm, {2, 22, 3}},
    {"H100", GpuModel::kH100, GpuGeneration::kHopper, 90, 25, 48, HostCpu::kIntel, {2, 22, 3}},
    {"H200", GpuModel::kH200, GpuGeneration::kHopper, 90, 25, 48, HostCpu::kIntel, {2, 22, 3}},
    {"H800", GpuModel::kH800, GpuGeneration::kHopper, 90, 25, 48, HostCpu::kIntel, {2, 18, 3}},
    {"H20", GpuModel::kH20, GpuGeneration::kHopper, 90, 25, 48, HostCpu::kIntel, {2, 22, 3}},
    {"GB200", GpuModel::kGb200, GpuGeneration::kBlackwell, 100, 50, 48, HostCpu::kArm, {2, 26, 2}},
    {"B200", GpuModel::kB200, GpuGeneration::kBlackwell, 100, 50, 48, HostCpu::kIntel, {2, 26, 2}},
};

}  // namespace

const KnownGpu* find_gpu(GpuModel model) {
  const auto* const found =
      std::find_if(std::begin(kGpus), std::end(kGpus),
                   [model](const KnownGpu& gpu) { return gpu.model == model; });
  return found == std::end(kGpus) ? nullptr : found;
}

const KnownGpu* find_gpu(const std::string& text) {
  // Select the name that occurs first in the text. If two names occur at the same position, select
  // the longer one.
  const KnownGpu* found = nullptr;
  std::size_t at = std::string::npos;
  for (const KnownGpu& gpu : kGpus) {
    const std::size_t place = text.find(gpu.name);
    if (place == std::string::npos || place > at) continue;
    if (place == at && std::string_view(gpu.name).size() <= std::string_view(found->name).size())
      continue;
    found = &gpu;
    at = place;
  }
  return found;
}

}  // namespace tutti::core::nccl
