#pragma once

// Declarations that the source files of the time model share. No other code includes this header.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/nccl/search/graph.h"
#include "core/nccl/system.h"
#include "core/nccl/time/parameters.h"
#include "core/nccl/topology/rates.h"

namespace tutti::core::nccl {

inline constexpr double kPerUs = 1e3;  ///< number of bytes per us at 1 GB/s

/// Computes the time in which all bytes pass through several resources in series. The result is
/// slightly longer than the time of the slowest resource alone.
class Narrowest {
 public:
  void add(double us, const char* what) {
    sum_ += us * us * us * us;
    if (us <= most_) return;
    most_ = us;
    what_ = what;
  }
  [[nodiscard]] double us() const { return std::sqrt(std::sqrt(sum_)); }
  [[nodiscard]] const char* what() const { return what_; }

 private:
  double sum_ = 0;  ///< sum of the fourth powers of all times, so that two equally slow resources
                    ///< take 19 % longer than one
  double most_ = 0;
  const char* what_ = "";
};

/// Returns the time in us that is added to the duration `kernel_us` of a kernel if the CPU needs
/// longer than the kernel. nccl-tests issues the next operation before the kernel has ended, so the
/// CPU and the GPU form a pipeline of two stages. In the steady state, the slower stage alone
/// determines the time per operation. A thread with several GPUs issues an operation on its GPUs
/// one after the other. `messages` is the number of messages that a GPU exchanges with other GPUs
/// of its node. A process handles the messages of all its GPUs one after the other, even if each
/// GPU has its own thread. SOURCE: with one thread per GPU, an all-to-all of 96 bytes takes 16 us
/// on 2 A100, 21 us on 4 and 50 us on 8; with one thread for all GPUs, a broadcast over 8 A100
/// takes 23 us at every size up to 48 KiB.
inline double waiting_for_host(const System& s, const Communicator& comm, double kernel_us,
                               const Parameters& p, double messages = 0) {
  const double gpus = comm.ranks_of_node();
  const double of_thread = s.driving == Driving::kOneThread ? gpus : 1;
  const double of_process = s.driving == Driving::kProcessPerGpu ? 1 : gpus;
  const double issuing = of_thread * p.of(HostFigure::kIssue) +
                         of_process * messages * p.of(ReleaseFigure::kMessage, comm.version);
  return std::max(0.0, issuing - kernel_us);
}

/// The size in bytes above which a message is sent only after the receiver has sent the address of
/// its buffer (rendezvous). SOURCE: FI_CXI_RDZV_THRESHOLD, fi_cxi(7); other networks have similar
/// limits.
inline constexpr double kLongMessage = 16384;

/// From this number of nodes on, the network cards' lists of expected messages overflow, so that
/// the CPU has to match messages. SOURCE: on Polaris with 256 nodes, a ring with LL takes 30 us per
/// node in any match mode, compared to 7 us per node on 8 nodes; the limit is assumed to be 128.
inline constexpr int kManyNodes = 128;

/// Returns the CPU time in us for one message of `wire_bytes` bytes on the network. `waits` is true
/// if the receiver posted its receive buffer long before the message arrives.
inline double per_message(const System& s, int nodes, double wire_bytes, bool waits,
                          const Parameters& p) {
  bool by_cpu = wire_bytes > kLongMessage;
  if (s.transport == Transport::kSlingshot) {
    by_cpu = by_cpu || s.matching == Matching::kByCpuSlowly ||
             (!waits && (s.matching == Matching::kByCpu || nodes >= kManyNodes));
  }
  return by_cpu ? p.of(s.transport, NetFigure::kRendezvous) : 0;
}

/// Returns the latency in us of a hop between nodes for a parameter `figure` of the transport. If
/// the scenario states a higher latency of the network than usual, the hop takes longer by the
/// difference. A lower latency changes nothing, because it is within the uncertainty of the
/// parameters.
///
/// The parameters of EFA apply to messages without flush on the first generation of EFA, and
/// consist of the latency of the network and the time of software. With Simple, a GPU before Hopper
/// that receives data directly from the card (GPUDirect) reads from its memory through the card
/// (flush), which takes the usual latency of the network once more.
inline double far_latency(const System& s, NetFigure figure, const Parameters& p) {
  const double us = p.of(s.transport, figure);
  if (!is_efa(s.transport)) return us + s.more_latency_us;
  const double usual = usual_latency_us(s.transport);
  const double first = usual_latency_us(Transport::kEfa);
  const bool flush = figure == NetFigure::kHopSimple && s.flushes && s.gpudirect &&
                     s.transport != Transport::kEfaCopies;
  return std::max(0.0, us - first) + std::min(usual, us) + (flush ? usual : 0) + s.more_latency_us;
}

/// Returns the number of network cards per node that are in use if there is one process per GPU.
inline double cards_in_use(const System& s) { return std::max(1, std::min(s.nics, s.gpus)); }

/// Returns the fraction of the data between the GPUs of a node that crosses the link between a PCIe
/// switch and the CPU. Without peer access, all data passes through host memory. With peer access,
/// data between GPUs of the same switch does not leave the switch. In a ring (`neighbours`), only
/// one of the GPUs of a switch sends to another switch. If `neighbours` is false, each GPU sends to
/// all other GPUs.
inline double crossing_uplinks(const System& s, bool neighbours) {
  const int inside = s.gpus_of_uplink;
  if (!s.peer_access || s.gpus < 2) return 1;
  if (inside >= s.gpus) return 0;
  return neighbours ? 1.0 / inside : static_cast<double>(s.gpus - inside) / (s.gpus - 1);
}

/// Returns the limit in GB/s that PCIe sets for the network cards of a node that sends or receives.
/// Data enters and leaves a card through the PCIe link of a GPU. GPUDirect is assumed to reach 90 %
/// of the nominal rate of the link (there are no measured tables with cards that are faster than
/// PCIe). NCCL counts 76 % of the nominal rate as payload.
inline double through_pcie_one_way(const System& s) {
  constexpr double kOfPayload = 0.9 / 0.76;
  return cards_in_use(s) * s.pcie_gb_per_s * kOfPayload;
}

/// True if data between a GPU and a network card is copied to host memory on its way. EFA without
/// RDMA cannot access the memory of GPUs.
inline bool through_host(const System& s) {
  return !s.gpudirect || s.transport == Transport::kEfaCopies;
}

/// Returns the limit in GB/s per direction that PCIe sets for the network cards of a node that
/// sends and receives at the same time. If several GPUs share a card, data enters the node through
/// one GPU and leaves it through another, so that the PCIe link of a GPU carries one direction. If
/// the card and the GPUs share a PCIe switch, all data between card and GPU crosses the link
/// between switch and CPU twice: to host memory and back.
inline double through_pcie(const System& s, const Parameters& p) {
  const double all = cards_in_use(s) * s.pcie_gb_per_s;
  if (through_host(s))
    return s.gpus > s.nics ? through_pcie_one_way(s) / (s.shares_pcie_switch ? 2 : 1)
                           : all * p.of(PcieFigure::kThroughHost);
  if (s.card) return all * p.of(PcieFigure::kShare);
  // Blades for Slingshot have no PCIe switch between GPU and card.
  if (s.transport == Transport::kSlingshot) return all * p.of(PcieFigure::kToCard);
  return through_pcie_one_way(s);
}

/// The share of a network's rate that is TCP payload: 1,448 of the 1,538 bytes that a frame
/// occupies on Ethernet. A measurement gave 92 % of 10 GbE on 2 to 8 hosts
/// (HKBU-HPML/ddl-benchmarks).
inline constexpr double kTcpShare = 0.94;
/// The ratio between the rates at which a host sends if there are three hosts, and if there are
/// only two. The ratio applies to overlay networks in which all traffic between two hosts is one
/// flow.
inline constexpr double kBothWays = 1.2;

/// Returns the total rate in GB/s at which a node sends with the connections of `channels`
/// channels. The host limits the total rate of sockets. SOURCE: rings over one socket each: one
/// ring moves 2.06 GB/s, two rings 2.77 GB/s, four rings 3.28 GB/s and eight rings 3.75 GB/s
/// (NVIDIA/nccl issue 209).
inline double through_connections(const System& s, double channels) {
  if (s.sockets.thread_gb_per_s <= 0) {
    return s.sockets.connection_gb_per_s > 0 ? channels * s.sockets.connection_gb_per_s
                                             : std::numeric_limits<double>::infinity();
  }
  constexpr double kMoreChannels = 0.3;
  const Sockets& sockets = s.sockets;
  double connection = sockets.threads * sockets.thread_gb_per_s;
  if (sockets.connection_gb_per_s > 0)
    connection =
        std::min(connection, sockets.threads * sockets.per_thread * sockets.connection_gb_per_s);
  double all = connection * std::pow(std::max(1.0, channels), sockets.one_flow ? 0 : kMoreChannels);
  // Only with two hosts, each host receives everything that the other sends, so data of one
  // direction and acknowledgements of the other direction share one queue.
  if (sockets.one_flow && s.nodes == 2 * sockets.pods) all /= kBothWays;
  return sockets.host_gb_per_s > 0 ? std::min(all, sockets.host_gb_per_s) : all;
}

/// Returns the name of the resource that limits the rate at which a node sends. The node's cards
/// reach `cards` GB/s (or less, because of PCIe), and its connections reach through_connections(s,
/// channels).
inline const char* limit_of_node(const System& s, double cards, double channels) {
  const double sockets = through_connections(s, channels);
  if (sockets >= cards) return "network cards";
  if (s.sockets.thread_gb_per_s <= 0) return "connections (connection_gb_per_s of the network)";
  return s.sockets.host_gb_per_s > 0 && sockets >= s.sockets.host_gb_per_s
             ? "the host's TCP stack (host_gb_per_s of the host transport)"
             : "threads of TCP connections";
}

/// Returns the number of NVLinks of a GPU that rings use if pairs of GPUs have different numbers of
/// NVLinks (Inside::kCubeMesh). The number follows from the rate of one NVLink in NCCL's tables.
inline double nvlinks_of_rings(const System& s, const Graph& ring) {
  const auto of_channel = std::lround(ring.bw_intra / nvlink_gb_per_s(s.compute_capability));
  return static_cast<double>(ring.channels) * static_cast<double>(std::max(1L, of_channel));
}

/// Returns the fraction of the line rate that collectives reach in a network with `nodes` nodes.
inline double arriving(const System& s, int nodes, const Parameters& p) {
  // Sockets are modelled separately, and TCP reaches the full rate of a slow link.
  if (s.sockets.thread_gb_per_s > 0) return kTcpShare;
  return p.of(s.transport, NetFigure::kShare) *
         std::pow(nodes / 2.0, -p.of(s.transport, NetFigure::kCongestionExponent));
}

/// Returns the rate in GB/s at which the cards of a node send to reducing switches and, at the same
/// time, receive from them.
inline double through_sharp(const System& s, const Parameters& p) {
  return std::min(s.nics * s.nic_gb_per_s * p.of(SharpFigure::kShare), through_pcie(s, p));
}

/// Returns the number of levels of switches that connect the cards of one rail. Half of the ports
/// of a switch lead to nodes. A Quantum switch (HDR) has 40 ports, and a Quantum-2 switch (NDR) has
/// 64 ports. SOURCE: data sheets of QM8700 and QM9700.
inline int levels_of_switches(const System& s, int nodes) {
  const std::int64_t of_leaf = s.nic_gb_per_s < 50 ? 20 : 32;
  int levels = 1;
  for (std::int64_t reached = of_leaf; reached < nodes; reached *= of_leaf) ++levels;
  return levels;
}

}  // namespace tutti::core::nccl
