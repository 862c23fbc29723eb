#pragma once

#include <string>

#include "core/cluster/transport.h"
#include "core/nccl/communicator.h"
#include "core/nccl/driving.h"
#include "core/nccl/settings.h"

namespace tutti::core::nccl {

enum class GpuGeneration { kPascal, kVolta, kTuring, kAmpere, kAda, kHopper, kBlackwell };

/// The connection between the GPUs of a machine.
enum class Inside {
  kAlone,     ///< one GPU per machine
  kNvswitch,  ///< every GPU at all of its NVLinks through switches
  kPairs,     ///< NVLinks shared out evenly among all pairs
  kCubeMesh,  ///< DGX-1: hybrid cube mesh of 8 GPUs
  kPcie,      ///< PCIe, across the CPUs
};

using core::Transport;

/// The component that matches messages with their receive buffers, on Slingshot.
enum class Matching {
  kByCard,      ///< the network card
  kByCpu,       ///< libfabric, which then copies to the GPU's memory itself (GDRCopy)
  kByCpuSlowly  ///< … by way of the driver
};

/// The TCP transport of NCCL's messages (core/cluster/host_transport.h).
struct Sockets {
  double thread_gb_per_s = 0;      ///< of one thread; 0: not TCP, or hosts take nothing
  double connection_gb_per_s = 0;  ///< of one socket; 0: no limit
  int threads = 1;                 ///< of a connection: NCCL_SOCKET_NTHREADS
  int per_thread = 1;              ///< NCCL_NSOCKS_PERTHREAD
  double host_gb_per_s = 0;        ///< of all connections of a host; 0: no limit
  double overlay_us = 0;           ///< what encapsulation adds to a hop
  bool one_flow = false;  ///< all packets of two hosts are one flow, both ways: an IPIP overlay
  int pods = 1;           ///< nodes of a host, if every GPU is in a container of its own
};

/// Identical machines, with the facts of a data sheet.
struct System {
  GpuGeneration generation = GpuGeneration::kAmpere;
  int compute_capability = 80;
  int nodes = 1;
  int gpus = 8;  ///< of a node that take part
  Inside inside = Inside::kNvswitch;
  int nvlinks = 12;             ///< of a GPU
  double nvlink_gb_per_s = 25;  ///< of one, per direction, by its data sheet
  double pcie_gb_per_s = 24;    ///< of a GPU, per direction, payload as NCCL counts it
  int nics = 0;                 ///< of a node, for its GPUs
  double nic_gb_per_s = 0;      ///< of one, by its data sheet
  Transport transport = Transport::kNone;
  Matching matching = Matching::kByCpu;  ///< on Slingshot; by default as its sites advise for NCCL
  Sockets sockets = {};                  ///< with transport TCP
  Driving driving = Driving::kProcessPerGpu;
  HostCpu cpu = HostCpu::kIntel;
  bool card = false;  ///< GPUs are PCIe cards: what goes to the network crosses the host as what
                      ///< goes to other GPUs
  bool gpudirect = true;  ///< network cards reach the GPUs' memory
  bool grace = false;     ///< GPUs and network cards hang on the same CPU over C2C
  bool collnet = false;   ///< SHARP in the network, and its plugin

  int gpus_of_machine = 0;  ///< that share NVLinks as pairs; 0: as many as take part

  [[nodiscard]] int ranks() const { return nodes * gpus; }
  /// The number of GPUs to which a GPU has links.
  [[nodiscard]] int pairs_of_machine() const {
    return (gpus_of_machine > 0 ? gpus_of_machine : gpus) - 1;
  }
  /// The total rate of a GPU's NVLinks in one direction, in GB/s by the data sheet.
  [[nodiscard]] double nvlink_of_gpu() const { return nvlinks * nvlink_gb_per_s; }
};

}  // namespace tutti::core::nccl
