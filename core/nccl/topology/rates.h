#pragma once

#include <span>
#include <string_view>

#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

// The bandwidths that NCCL 2.28.9 assumes for links, per direction, in GB/s of payload.
// SOURCE: NVIDIA/nccl v2.28.9 src/graph/topo.h, topo.cc.

/// NCCL's rate for transfers inside a device, and for transfers between a virtual card and its CPU.
inline constexpr float kLocGbPerS = 5000;

/// Returns the rate of one NVLink of a GPU with compute capability `sm`.
float nvlink_gb_per_s(int sm);
/// Returns the rate between two sockets with CPUs of this kind.
float socket_gb_per_s(const CpuFacts& cpu);
/// Returns the rate of a PCIe connection. `speed` has the form of Linux's sysfs ("16.0 GT/s PCIe",
/// "8 GT/s"). A text that NCCL does not know counts as PCIe generation 3.
float pcie_gb_per_s(std::string_view speed, int lanes);
/// True if pcie_gb_per_s() supports this text of a speed.
bool is_pcie_speed(std::string_view speed);

/// Returns the bandwidths per channel, in GB/s, that NCCL's search tries, in descending order.
/// SOURCE: NVIDIA/nccl v2.28.9 src/graph/search.cc.
std::span<const float> channel_speeds(bool over_nodes, int min_sm);

}  // namespace tutti::core::nccl
