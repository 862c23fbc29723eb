#pragma once

namespace tutti::core::nccl {

/// The number of slots of a connection's buffer, both between two ranks and between a rank and its
/// proxy.
/// SOURCE: NVIDIA/nccl src/include/device.h, NCCL_STEPS.
inline constexpr int kSlots = 8;

}  // namespace tutti::core::nccl
