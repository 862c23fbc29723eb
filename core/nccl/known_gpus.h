#pragma once

#include <string>

#include "core/cluster/device_model.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Facts that follow from a GPU's model.
struct KnownGpu {
  const char* name;  ///< part of the GPU's name in measured tables
  GpuModel model;
  GpuGeneration generation;
  int compute_capability;
  double nvlink_gb_per_s;  ///< data-sheet rate of one NVLink, per direction
  double pcie_gb_per_s;    ///< payload rate of the PCIe connection, as NCCL counts it
  HostCpu cpu;             ///< CPU of the machines in which the GPU is usually sold
  Version usual_version;   ///< assumed if a table states no release: one from the time when such
                           ///< machines were measured
};

/// Returns null if the model is unknown.
const KnownGpu* find_gpu(GpuModel model);
/// Returns the GPU that a measured table names ("A100-SXM4-40GB"), in its column for GPUs. Returns
/// null if it is unknown.
const KnownGpu* find_gpu(const std::string& text);

/// Returns the network as machines with such GPUs use it: EFA reads and writes remote memory from
/// P4d (A100) on; older instances copy. SOURCE: AWS, "Elastic Fabric Adapter", RDMA read support by
/// instance type.
inline Transport at_gpus(Transport transport, GpuGeneration generation) {
  return transport == Transport::kEfa && generation < GpuGeneration::kAmpere ? Transport::kEfaCopies
                                                                             : transport;
}

}  // namespace tutti::core::nccl
