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
  double nvlink_gb_per_s;  ///< data-sheet rate of one NVLink, per direction
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

/// Returns kEfaCopies if `transport` is kEfa and the GPUs are older than Ampere; otherwise
/// `transport`. On EC2 instances before P4d (A100), EFA does not support reads and writes of remote
/// memory (RDMA), so the CPU copies received data. SOURCE: AWS, "Elastic Fabric Adapter", RDMA read
/// support by instance type.
inline Transport at_gpus(Transport transport, GpuGeneration generation) {
  return transport == Transport::kEfa && generation < GpuGeneration::kAmpere ? Transport::kEfaCopies
                                                                             : transport;
}

}  // namespace tutti::core::nccl
