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
  kNvswitch,  ///< all NVLinks of every GPU lead to switches
  kPairs,     ///< NVLinks divided evenly among all pairs of GPUs
  kCubeMesh,  ///< DGX-1: hybrid cube mesh of 8 GPUs
  kPcie,      ///< PCIe, across the CPUs
};

using core::Transport;

/// The component that matches messages with their receive buffers, on Slingshot.
enum class Matching {
  kByCard,      ///< the network card
  kByCpu,       ///< libfabric, which then copies to the GPU's memory itself (GDRCopy)
  kByCpuSlowly  ///< libfabric, which then copies to the GPU's memory through the driver
};

/// The TCP transport of NCCL's messages (core/cluster/host_transport.h).
struct Sockets {
  double thread_gb_per_s = 0;      ///< rate of one thread; 0: not TCP, or hosts take no time
  double connection_gb_per_s = 0;  ///< rate of one socket; 0: no limit
  int threads = 1;                 ///< threads per connection: NCCL_SOCKET_NTHREADS
  int per_thread = 1;              ///< sockets per thread: NCCL_NSOCKS_PERTHREAD
  double host_gb_per_s = 0;        ///< total rate of a host's connections; 0: no limit
  double overlay_us = 0;           ///< latency that encapsulation adds to a hop
  bool one_flow = false;  ///< all packets between two hosts, both ways, are one flow (IPIP overlay)
  int pods = 1;           ///< nodes per host, if every GPU has its own container
};

/// Identical machines, with the facts of a data sheet.
struct System {
  GpuGeneration generation = GpuGeneration::kAmpere;
  int compute_capability = 80;
  int nodes = 1;
  int gpus = 8;  ///< participating GPUs per node
  Inside inside = Inside::kNvswitch;
  int nvlinks = 12;             ///< NVLinks per GPU
  double nvlink_gb_per_s = 25;  ///< data-sheet rate of one NVLink, per direction
  double pcie_gb_per_s = 24;    ///< payload rate of a GPU's PCIe, per direction, as NCCL counts it
  int nics = 0;                 ///< network cards of a node, for its GPUs
  double nic_gb_per_s = 0;      ///< data-sheet rate of one network card
  Transport transport = Transport::kNone;
  Matching matching = Matching::kByCpu;  ///< on Slingshot; default: as its sites advise for NCCL
  Sockets sockets = {};                  ///< used if the transport is TCP
  Driving driving = Driving::kProcessPerGpu;
  HostCpu cpu = HostCpu::kIntel;
  bool card = false;  ///< GPUs are PCIe cards, so traffic to the network crosses the host, as does
                      ///< traffic to other GPUs
  bool gpudirect = true;  ///< network cards access the GPUs' memory directly
  bool grace = false;     ///< GPUs and network cards are attached to the same CPU, over C2C
  bool collnet = false;   ///< the network has SHARP, and NCCL its plugin

  int gpus_of_machine = 0;  ///< GPUs that share NVLinks as pairs; 0: all participating GPUs

  [[nodiscard]] int ranks() const { return nodes * gpus; }
  /// The number of GPUs to which a GPU has links.
  [[nodiscard]] int pairs_of_machine() const {
    return (gpus_of_machine > 0 ? gpus_of_machine : gpus) - 1;
  }
  /// The total rate of a GPU's NVLinks in one direction, in GB/s by the data sheet.
  [[nodiscard]] double nvlink_of_gpu() const { return nvlinks * nvlink_gb_per_s; }
};

}  // namespace tutti::core::nccl
