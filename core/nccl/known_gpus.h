#pragma once

#include <string>

#include "core/cluster/device_model.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// The properties of a GPU that follow from its model.
struct KnownGpu {
  const char* name;  ///< part of the GPU's name in measured tables
  GpuModel model;
  GpuGeneration generation;
  int compute_capability;
  double nvlink_gb_per_s;  ///< data-sheet rate of one NVLink, per direction; 0: no NVLink
  double pcie_gb_per_s;    ///< payload rate of the GPU's PCIe connection, as NCCL computes it
  HostCpu cpu;             ///< the CPU that machines with this GPU usually have
  Version usual_version;   ///< the NCCL release that was current when this GPU's tables were
                           ///< measured; it is assumed for tables that do not state a release
};

/// Returns the properties of a model; null if the model is unknown.
const KnownGpu* find_gpu(GpuModel model);
/// Returns the properties of a GPU by its name in measured tables ("A100-SXM4-40GB"); null if the
/// GPU is unknown.
const KnownGpu* find_gpu(const std::string& text);

/// If `transport` is EFA with RDMA, returns the kind of EFA that EC2 instances with GPUs of this
/// generation have; otherwise returns `transport`. RDMA (reads of remote memory) is supported since
/// P4d (A100); on older instances, the CPU copies received data (kEfaCopies). If the generation of
/// EFA is unspecified (kEfa), the result is the generation of the first instance with these GPUs:
/// the first for P4d (A100), the second for P5 (H100), and the fourth for P6 (B200). The third
/// generation, which P5en (H200) has, must be specified explicitly.
/// SOURCE: AWS, "Elastic Fabric Adapter", supported instance types and RDMA support.
inline Transport at_gpus(Transport transport, GpuGeneration generation) {
  if (!is_efa_with_rdma(transport)) return transport;
  if (generation < GpuGeneration::kAmpere) return Transport::kEfaCopies;
  if (transport != Transport::kEfa) return transport;
  if (generation < GpuGeneration::kHopper) return Transport::kEfaV1;
  return generation < GpuGeneration::kBlackwell ? Transport::kEfaV2 : Transport::kEfaV4;
}

}  // namespace tutti::core::nccl
