#pragma once

#include <string>

#include "core/cluster/device_model.h"
#include "core/nccl/system.h"

namespace tutti::core::nccl {

/// What follows from a GPU's model.
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

/// Nothing if there are no figures for it.
const KnownGpu* find_gpu(GpuModel model);
/// The GPU that a measured table names ("A100-SXM4-40GB"), which has a column for it. Nothing if
/// there are no figures for it.
const KnownGpu* find_gpu(const std::string& text);

/// The network as machines with such GPUs have it: EFA reads and writes others' memory from P4d
/// (A100) on; older instances copy. SOURCE: AWS, "Elastic Fabric Adapter", RDMA read support by
/// instance type.
inline Transport at_gpus(Transport transport, GpuGeneration generation) {
  return transport == Transport::kEfa && generation < GpuGeneration::kAmpere ? Transport::kEfaCopies
                                                                             : transport;
}

}  // namespace tutti::core::nccl
