#pragma once

#include <string>

#include "core/cluster/device_model.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// Facts that follow from a GPU's model.
struct KnownGpu {
  const char* name;  ///< part of what tables call it
  GpuModel model;
  GpuGeneration generation;
  int compute_capability;
  double nvlink_gb_per_s;  ///< of one link and direction, by its data sheet
  double pcie_gb_per_s;    ///< of its PCIe connection, payload as NCCL counts it
  HostCpu cpu;             ///< of the machines that it is usually sold in
  Version usual_version;   ///< where nobody says which NCCL it was: one of the time when such
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
