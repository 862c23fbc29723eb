#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::core {

/// The model of a GPU. NCCL's cost model depends on the GPU's generation. The values equal those of
/// the enum `GpuModel` in core/proto/machine.proto.
enum class GpuModel : std::uint8_t {
  kNone,  ///< not stated
  kK80,
  kP100,
  kV100,
  kT4,
  kA100,
  kA10,
  kRtx4090,
  kL40,
  kL40s,
  kGh200,
  kH100,
  kH200,
  kH800,
  kH20,
  kGb200,
  kB200,
};

/// The vendor of a CPU. The values equal those of the enum `CpuVendor` in core/proto/machine.proto.
enum class CpuVendor : std::uint8_t { kNone, kIntel, kAmd, kArm };

/// Returns the model's name in machine files, such as "H100" or "RTX_4090".
std::string_view to_string(GpuModel model);
std::optional<GpuModel> parse_gpu_model(std::string_view name);
/// Returns the names of all models, separated by commas.
std::string gpu_model_names();

/// Returns the vendor's name in machine files, such as "INTEL".
std::string_view to_string(CpuVendor vendor);

}  // namespace tutti::core
