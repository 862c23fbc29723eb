#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::core {

/// Which GPU a device is. NCCL's times have figures by its generation. Numbers are those of
/// `GpuModel` in core/proto/machine.proto.
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

/// Who makes a host's CPU. Numbers are those of `CpuVendor` in core/proto/machine.proto.
enum class CpuVendor : std::uint8_t { kNone, kIntel, kAmd, kArm };

/// As files name it: "H100", "RTX_4090".
std::string_view to_string(GpuModel model);
std::optional<GpuModel> parse_gpu_model(std::string_view name);
/// All that can be stated, with commas between them.
std::string gpu_model_names();

/// As files name it: "INTEL".
std::string_view to_string(CpuVendor vendor);

}  // namespace tutti::core
