// The latency of a cell is the initial latency plus the latency of all consecutive hops. A ring has
// 2(n-1) hops for an all-reduce, of which 2(N-1) are between nodes. A tree has log2(N) hops up and
// equally many hops down.

#include <algorithm>

#include "core/nccl/tuning/parts.h"

namespace tutti::core::nccl {
namespace {

float hop(const Cell& cell, Hardware hardware, Algorithm algorithm) {
  const auto row = static_cast<std::size_t>(hardware);
  // On Power, NCCL limits the latency so that trees do not appear slower than rings over PCIe.
  if (cell.comm.cpu == HostCpu::kPower && hardware == Hardware::kPci &&
      algorithm == Algorithm::kTree && cell.is(Protocol::kSimple) && cell.at_least(10))
    algorithm = Algorithm::kRing;
  const auto& hops = cell.constants.hop[row][static_cast<std::size_t>(algorithm)];
  return static_cast<float>(hops[static_cast<std::size_t>(cell.protocol)]);
}

Hardware inside(const Cell& cell) {
  return cell.graph().type_intra == PathType::kNvl ? Hardware::kNvlink : Hardware::kPci;
}

/// Returns the latency of a hop between nodes, including the latency that the network card reports.
float between(const Cell& cell) {
  const float card = cell.graph().latency_inter;
  const bool exposed = cell.at_least(23) && cell.comm.ranks == cell.comm.nodes;
  const float table = hop(cell, Hardware::kNet, exposed ? Algorithm::kTree : cell.algorithm);
  if (!cell.at_least(12)) return table;
  if (!cell.at_least(18)) return card != 0 ? card : table;
  const float once = table + card;
  return cell.is(Protocol::kSimple) ? once + card : once;  // Simple also flushes
}

/// Returns the proxy's time per message, which every hop of a ring between nodes includes.
float net_overhead(const Cell& cell) {
  if (cell.comm.nodes == 1 || !cell.at_least(18)) return 0;
  float us = cell.comm.cpu == HostCpu::kAmd ? 2.0F : 1.0F;
  if (cell.settings.net_overhead_ns)
    us = static_cast<float>(static_cast<double>(*cell.settings.net_overhead_ns) * .001);
  return cell.is(Protocol::kSimple) ? us * 3 : us;
}

int steps_between(const Cell& cell) {
  const int nodes = cell.comm.nodes;
  if (!cell.all_reduce()) return nodes == 1 ? 0 : nodes - 1;
  if (nodes == 1) return 0;
  return cell.at_least(12) && !cell.at_least(23) ? 2 * nodes : 2 * (nodes - 1);
}

float ring(const Cell& cell, float intra, float inter) {
  const Hardware hardware = cell.comm.nodes == 1 ? inside(cell) : Hardware::kNet;
  float lat = hop(cell, hardware, Algorithm::kRing);
  if (cell.function == Function::kBroadcast || cell.function == Function::kReduce) {
    if (cell.graph().same_channels) return lat;
    if (cell.is(Protocol::kSimple)) lat = hop(cell, hardware, Algorithm::kTree);
    return static_cast<float>(cell.steps()) * lat;
  }
  if (!cell.at_least(7)) return static_cast<float>(cell.steps()) * lat;
  intra = std::max(intra, net_overhead(cell));
  const int far = steps_between(cell);
  return static_cast<float>(cell.steps() - far) * intra + static_cast<float>(far) * inter;
}

float collnet_latency(const Cell& cell, float intra, float inter) {
  const int others = cell.comm.ranks_of_node() - 1;
  if (cell.is(Algorithm::kCollNetChain))
    return static_cast<float>(2 * others) * intra + (cell.at_least(18) ? inter : 0);
  if (!cell.at_least(10)) return static_cast<float>(2 * others) * intra + inter;
  const double arity = cell.at_least(19) ? 0.4 : 0.5;  // messages are sent one after the other
  return static_cast<float>(2 * (static_cast<float>(std::min(1, others)) * intra + others * arity) +
                            inter);
}

}  // namespace

float latency_of(const Cell& cell) {
  const int nodes = cell.comm.nodes;
  const auto& bases = cell.constants.base[static_cast<std::size_t>(cell.algorithm)];
  const auto base = static_cast<float>(bases[static_cast<std::size_t>(cell.protocol)]);
  float intra = hop(cell, inside(cell), cell.algorithm);
  if (nodes > 1 && cell.is(Protocol::kLl) && cell.at_least(7) && !cell.at_least(18))
    intra = static_cast<float>(intra * 1.8);
  const float inter = between(cell);
  switch (cell.algorithm) {
    case Algorithm::kRing: return base + ring(cell, intra, inter);
    case Algorithm::kTree:
      return base + 2 * (static_cast<float>(cell.comm.ranks_of_node() - 1) * intra +
                         static_cast<float>(log2i(nodes)) * inter);
    case Algorithm::kCollNetDirect:
    case Algorithm::kCollNetChain: return base + collnet_latency(cell, intra, inter);
    case Algorithm::kNvls:
      if (cell.at_least(19)) return nodes > 1 ? intra + inter : intra;
      return nodes > 1 && cell.at_least(18) ? base + hop(cell, Hardware::kNet, Algorithm::kNvls)
                                            : base;
    case Algorithm::kNvlsTree:
      if (cell.at_least(19)) return base + (intra + static_cast<float>(2 * log2i(nodes)) * inter);
      return base +
             static_cast<float>(2 * (nodes - 1)) * hop(cell, Hardware::kNet, Algorithm::kNvlsTree);
    case Algorithm::kPat:
      return static_cast<float>(base + (log2i(nodes) * (inter / 3.5) + cell.comm.ranks * 2.8));
  }
  return base;
}

}  // namespace tutti::core::nccl
