#include "core/nccl/known_gpus.h"

#include <string_view>

namespace tutti::core::nccl {
namespace {

// SOURCE: compute capabilities: developer.nvidia.com/cuda-gpus; NVLink and PCIe: vendors' data sheets; CPUs: DGX A100 and HGX A100 systems are AMD, DGX-1,
// DGX H100 and DGX B200 Intel, superchips Arm.
constexpr KnownGpu kGpus[] = {
    {"P100", GpuGeneration::kPascal, 60, 20, 12, HostCpu::kIntel, {2, 10, 3}},
    {"V100", GpuGeneration::kVolta, 70, 25, 12, HostCpu::kIntel, {2, 10, 3}},
    {"T4", GpuGeneration::kTuring, 75, 0, 12, HostCpu::kIntel, {2, 10, 3}},
    {"A100", GpuGeneration::kAmpere, 80, 25, 24, HostCpu::kAmd, {2, 18, 3}},
    {"A10", GpuGeneration::kAmpere, 86, 0, 24, HostCpu::kAmd, {2, 18, 3}},
    {"RTX 4090", GpuGeneration::kAda, 89, 0, 24, HostCpu::kAmd, {2, 18, 3}},
    {"L40", GpuGeneration::kAda, 89, 0, 24, HostCpu::kAmd, {2, 18, 3}},
    {"GH200", GpuGeneration::kHopper, 90, 25, 48, HostCpu::kArm, {2, 22, 3}},
    {"H100", GpuGeneration::kHopper, 90, 25, 48, HostCpu::kIntel, {2, 22, 3}},
    {"H200", GpuGeneration::kHopper, 90, 25, 48, HostCpu::kIntel, {2, 22, 3}},
    {"H800", GpuGeneration::kHopper, 90, 25, 48, HostCpu::kIntel, {2, 18, 3}},
    {"H20", GpuGeneration::kHopper, 90, 25, 48, HostCpu::kIntel, {2, 22, 3}},
    {"GB200", GpuGeneration::kBlackwell, 100, 50, 48, HostCpu::kArm, {2, 26, 2}},
    {"B200", GpuGeneration::kBlackwell, 100, 50, 48, HostCpu::kIntel, {2, 26, 2}},
};

bool has(const std::string& text, const char* part) { return text.find(part) != std::string::npos; }

}  // namespace

const KnownGpu* find_gpu(const std::string& text) {
  // The first that the text speaks of; of two names in one place the longer.
  const KnownGpu* found = nullptr;
  std::size_t at = std::string::npos;
  for (const KnownGpu& gpu : kGpus) {
    const std::size_t place = text.find(gpu.name);
    if (place == std::string::npos || place > at) continue;
    if (place == at && std::string_view(gpu.name).size() <= std::string_view(found->name).size()) continue;
    found = &gpu;
    at = place;
  }
  return found;
}

std::optional<Transport> find_transport(const std::string& text) {
  if (has(text, "TCP over") || has(text, "Ethernet") || has(text, "ENA")) return Transport::kTcp;
  if (has(text, "TCPXO")) return Transport::kTcpxo;
  if (has(text, "TCPX")) return Transport::kTcpx;
  if (has(text, "EFA")) return Transport::kEfa;
  if (has(text, "Slingshot")) return Transport::kSlingshot;
  if (has(text, "InfiniBand")) return Transport::kInfiniband;
  if (has(text, "RoCE")) return Transport::kRoce;
  // These cards can do both; of NVIDIA's own machines the network is InfiniBand.
  if (has(text, "ConnectX")) return Transport::kInfiniband;
  return std::nullopt;
}

std::optional<Transport> parse_transport(const std::string& name) {
  for (const Transport transport : {Transport::kInfiniband, Transport::kRoce, Transport::kEfa, Transport::kSlingshot,
                                    Transport::kTcpx, Transport::kTcpxo, Transport::kTcp}) {
    if (name == to_string(transport)) return transport;
  }
  return std::nullopt;
}

const char* to_string(Transport transport) {
  switch (transport) {
    case Transport::kNone: return "none";
    case Transport::kInfiniband: return "infiniband";
    case Transport::kRoce: return "roce";
    case Transport::kEfa:
    case Transport::kEfaCopies: return "efa";
    case Transport::kSlingshot: return "slingshot";
    case Transport::kTcpx: return "tcpx";
    case Transport::kTcpxo: return "tcpxo";
    case Transport::kTcp: return "tcp";
  }
  return "";
}

}  // namespace tutti::core::nccl
