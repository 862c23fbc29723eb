#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "core/cluster/transport.h"
#include "core/nccl/communicator.h"
#include "core/nccl/driving.h"
#include "core/nccl/settings.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

enum class GpuGeneration { kPascal, kVolta, kTuring, kAmpere, kAda, kHopper, kBlackwell };

/// The connection between the GPUs of a machine.
enum class Inside {
  kAlone,     ///< one GPU per machine
  kNvswitch,  ///< all NVLinks of every GPU are connected to switches
  kPairs,     ///< NVLinks are divided evenly among all pairs of participating GPUs
  kCubeMesh,  ///< NVLinks connect some pairs of GPUs, or pairs have different numbers of NVLinks,
              ///< as in the hybrid cube mesh of the 8 GPUs of a DGX-1
  kPcie,      ///< PCIe, through the CPUs
};

using core::Transport;

/// Returns the one-way latency in us, from card to card over one switch, that is usual for this
/// transport: the highest latency of the links with this transport in scenarios/links (a test
/// checks this). The parameters of hops between nodes were fitted to networks with such latencies.
/// SOURCE: for the first generation of EFA, AWS states 15.5 us. The second generation is assumed to
/// have 30 % less than the first. AWS states that the third generation has up to 35 % less than the
/// second. The fourth generation is assumed to have the value of the third.
double usual_latency_us(Transport transport);

/// On Slingshot networks: the component that finds the receive buffer for an incoming message (tag
/// matching).
enum class Matching {
  kByCard,      ///< the network card
  kByCpu,       ///< the CPU, in libfabric; the CPU then copies the data to the GPU's memory itself
                ///< (GDRCopy)
  kByCpuSlowly  ///< the CPU, in libfabric; the CPU then lets the driver copy the data to the GPU's
                ///< memory
};

/// The parameters of NCCL's TCP transport, which uses sockets (core/cluster/host_transport.h).
struct Sockets {
  /// The rate at which one thread sends. The value 0 means that the transport is not TCP, or that
  /// hosts add no overhead.
  double thread_gb_per_s = 0;
  /// The rate of one socket or, on networks other than TCP, of the connection of one channel; 0: no
  /// limit.
  double connection_gb_per_s = 0;
  int threads = 1;           ///< threads per connection: NCCL_SOCKET_NTHREADS
  int per_thread = 1;        ///< sockets per thread: NCCL_NSOCKS_PERTHREAD
  double host_gb_per_s = 0;  ///< total rate of a host's connections in each direction; 0: no limit
  double overlay_us = 0;     ///< latency in us that the packet encapsulation of an overlay network
                             ///< adds to a hop
  bool one_flow = false;     ///< true if all packets between two hosts, in both directions, are one
                             ///< flow (IPIP overlay)
  int pods = 1;  ///< number of nodes per host; more than 1 if every GPU has its own container
};

/// Identical machines, described by data-sheet values.
struct System {
  GpuGeneration generation = GpuGeneration::kAmpere;
  int compute_capability = 80;
  int nodes = 1;
  int gpus = 8;  ///< number of participating GPUs per node
  Inside inside = Inside::kNvswitch;
  int nvlinks = 12;             ///< number of NVLinks per GPU
  double nvlink_gb_per_s = 25;  ///< data-sheet rate of one NVLink, per direction
  /// The payload rate of a GPU's PCIe connection per direction, as NCCL computes it.
  double pcie_gb_per_s = 24;
  int nics = 0;             ///< number of network cards per node that the GPUs use
  double nic_gb_per_s = 0;  ///< data-sheet rate of one network card
  /// The number of devices of which each card consists: the EFA devices of a GPU, or the ports of
  /// one adapter. see_network() replaces a card by its devices if NCCL does not merge them.
  int devices_per_card = 1;
  /// The release of aws-ofi-nccl, the plugin through which NCCL uses EFA; nullopt: the release that
  /// is usual with the release of NCCL.
  std::optional<Version> ofi_plugin;
  /// The latency in us that the network plugin reports to NCCL; NCCL's choice depends on it.
  double card_latency_us = 0;
  /// True if each received message is followed by a read from the GPU's memory (flush).
  bool flushes = true;
  Transport transport = Transport::kNone;
  /// The time in us by which the card-to-card latency in the scenario exceeds the usual latency of
  /// the transport (usual_latency_us()).
  double more_latency_us = 0;
  Matching matching = Matching::kByCpu;  ///< message matching on Slingshot; the default is the
                                         ///< setting that sites with Slingshot recommend for NCCL
  Sockets sockets = {};                  ///< parameters of the TCP transport
  Driving driving = Driving::kProcessPerGpu;
  bool nearest_gpu = false;  ///< true if the GPU model is unknown, so that `generation` and other
                             ///< fields are those of the nearest known model
  HostCpu cpu = HostCpu::kIntel;
  bool card = false;  ///< true if GPUs are PCIe cards, so that traffic to the network and to other
                      ///< GPUs crosses the host
  bool gpudirect = true;  ///< true if network cards access the memory of GPUs directly
  /// True if a network card shares a PCIe switch with GPUs, so that data that is copied to host
  /// memory crosses the link between switch and CPU on its way to the card and back.
  bool shares_pcie_switch = false;
  /// True if GPUs access each other's memory over PCIe. If false, data between GPUs that are not
  /// connected by NVLink passes through host memory.
  bool peer_access = true;
  /// The payload rate in GB/s that remains for each GPU if all participating GPUs send to host
  /// memory at the same time; 0: unknown. The rate is limited by the link between a PCIe switch and
  /// the CPU, which `gpus_of_uplink` GPUs share.
  double to_host_gb_per_s = 0;
  int gpus_of_uplink = 1;
  bool grace = false;  ///< true if C2C links connect the GPUs to the CPU to which the network
                       ///< cards are attached
  /// Only for Inside::kNvswitch: true if the switches can multicast and reduce (NVLink SHARP),
  /// which NVLS needs. By default true, because all NVSwitches of Hopper and Blackwell machines
  /// can.
  bool switch_multicasts = true;
  bool collnet = false;  ///< true if the network has SHARP and NCCL has the SHARP plugin

  /// Only for Inside::kPairs: the number of GPUs of the machine. The value 0 means that the machine
  /// has as many GPUs as participate (`gpus`).
  int gpus_of_machine = 0;

  [[nodiscard]] int ranks() const { return nodes * gpus; }
  /// Returns the PCIe rate in GB/s of each GPU if all GPUs send, and a fraction `through_host` of
  /// the data crosses the link between a PCIe switch and the CPU.
  [[nodiscard]] double pcie_of_gpu(double through_host) const {
    if (to_host_gb_per_s <= 0 || through_host <= 0) return pcie_gb_per_s;
    return std::min(pcie_gb_per_s, to_host_gb_per_s / through_host);
  }
  /// Only for Inside::kPairs: the number of GPUs to which a GPU has NVLinks.
  [[nodiscard]] int pairs_of_machine() const {
    return (gpus_of_machine > 0 ? gpus_of_machine : gpus) - 1;
  }
  /// The total data-sheet rate of a GPU's NVLinks per direction, in GB/s.
  [[nodiscard]] double nvlink_of_gpu() const { return nvlinks * nvlink_gb_per_s; }
};

}  // namespace tutti::core::nccl
