// The bandwidth of a cell. The computation starts from the total rate of the search's channels (the
// bus). The overhead of the protocol and NVIDIA's measured losses of the algorithm are subtracted.
// The result is multiplied by the ratio of the collective's bytes to the bytes on the bus. A worked
// example: 8 H100 GPUs in one node, with a ring of 12 channels of 30 GB/s. The bus has 360 GB/s. LL
// reaches half of the bus bandwidth (180), but at most 141 on this GPU. A ring all-reduce sends
// 2(n-1)/n = 14/8 of its bytes. The bandwidth is 141 / (14/8) = 80.6 GB/s.

#include <algorithm>
#include <limits>

#include "core/nccl/tuning/parts.h"

namespace tutti::core::nccl {
namespace {

/// Returns the index of these GPUs' generation in the tables of constants. Up to 2.16, NCCL treats
/// a mix of generations as Volta.
std::size_t generation(const Communicator& comm) {
  const Version v = comm.version;
  const int cc = comm.compute_capability;
  if (v < Version{2, 17, 0}) {
    if (cc != comm.max_compute_capability) return 0;
    return cc == 80 ? 1 : cc == 90 && v >= Version{2, 15, 0} ? 2 : 0;
  }
  if (cc >= 100 && v >= Version{2, 25, 0}) return 3;
  return cc >= 90 ? 2 : cc >= 80 ? 1 : 0;
}

std::size_t scale(const Communicator& comm) {
  return comm.nodes <= 2 ? static_cast<std::size_t>(comm.nodes - 1) : 2;
}

/// Returns the maximum bandwidth of LL. Inside a node, this bandwidth depends on the GPUs. Between
/// nodes, the bandwidth depends on the CPUs, because LL's data passes through host memory.
double ll_max(const Cell& cell) {
  const Communicator& comm = cell.comm;
  const bool amd = comm.cpu == HostCpu::kAmd || (comm.cpu == HostCpu::kMixed && cell.at_least(24));
  const std::size_t row = comm.nodes == 1 ? generation(comm) : amd ? 1 : 0;
  return cell.constants.ll_max[row][scale(comm)];
}

double of_channel(const Cell& cell, const PerGeneration& table) {
  return cell.graph().channels * table[generation(cell.comm)][scale(cell.comm)];
}

/// Returns the rate in GB/s of an NVLS channel in NCCL 2.28 and later. This is the rate of a
/// multicast over the switch.
float nvls_channel(const Cell& cell) {
  const Graph& graph = cell.graph();
  const bool tree = cell.is(Algorithm::kNvlsTree);
  float intra = graph.bw_intra *
                static_cast<float>(cell.constants.nvls_efficiency[generation(cell.comm)]) *
                static_cast<float>(graph.channels - 1) / static_cast<float>(graph.channels);
  // An all-reduce runs its reduce-scatter and its all-gather at the same time.
  const float ppn = cell.ranks_per_node();
  intra *= cell.all_reduce() ? 2.0F : (ppn - 1) / ppn;
  const float inter = graph.bw_inter * static_cast<float>(cell.comm.nodes <= 2 && tree ? 2 : 1);
  const float most =
      tree ? static_cast<float>(
                 cell.constants.nvls_tree_max[generation(cell.comm)][scale(cell.comm)])
           : std::numeric_limits<float>::max();
  return std::min({intra, inter, most});
}

/// Returns the rate of one channel in GB/s.
float channel(const Cell& cell) {
  const Graph& graph = cell.graph();
  const bool nvls = cell.is(Algorithm::kNvls);
  const bool nvls_tree = cell.is(Algorithm::kNvlsTree);
  if ((nvls || nvls_tree) && cell.at_least(28, 3)) return nvls_channel(cell);
  if (nvls && cell.at_least(19)) {
    if (cell.all_reduce() || !cell.at_least(27, 3)) return std::min(graph.bw_intra, graph.bw_inter);
    const float ppn = cell.ranks_per_node();
    return std::min(graph.bw_intra * (ppn - 1.0F) / ppn, graph.bw_inter * 0.9F);
  }
  if (nvls_tree && cell.at_least(19))
    return std::min(graph.bw_intra, cell.comm.nodes <= 2 ? graph.bw_inter : graph.bw_inter / 2);
  return cell.comm.nodes <= 2 || cell.collnet() ? graph.bw_intra : graph.bw_inter;
}

/// Applies limits that depend on the generation of GPUs. Only versions before 2.18 have these
/// limits.
float limited_by_generation(const Cell& cell, float bus) {
  const std::size_t row = generation(cell.comm);
  if (row == 1 && cell.at_least(7) && !cell.at_least(7, 5)) return static_cast<float>(bus * 0.92);
  if (row == 1 && cell.at_least(7, 5) && !cell.at_least(18)) return std::min(bus, 235.0F);
  if (row == 2 && cell.at_least(17) && !cell.at_least(18)) return std::min(bus, 370.0F);
  return bus;
}

float ring(const Cell& cell, float bus) {
  const std::size_t function = static_cast<std::size_t>(cell.function);
  if (cell.is(Protocol::kLl)) {
    const bool slow =
        cell.comm.nodes > 1 || cell.all_reduce() || cell.function == Function::kReduce;
    const double share = cell.at_least(21) ? .5 : !cell.at_least(7) || slow ? 1.0 / 4.0 : 1.0 / 3.0;
    return static_cast<float>(std::min(ll_max(cell), bus * share));
  }
  if (!cell.is(Protocol::kLl128)) return bus;
  if (!cell.at_least(7))
    return static_cast<float>(std::min(bus * 120.0 / 128.0, cell.constants.ll128_max[function]));
  // If only one GPU of a node participates, it sends and receives through the same network card.
  const double share = cell.ranks_per_node() < 2 && !cell.at_least(23) ? 0.7 : 0.92;
  const double most = cell.at_least(10)
                          ? of_channel(cell, cell.constants.ring_ll128_max)
                          : cell.constants.ll128_max[function] * cell.graph().channels;
  return static_cast<float>(std::min(bus * share, most));
}

/// Returns the upper limit of a tree's total bus bandwidth, which NCCL applies up to 2.7.
double old_tree_max(const Cell& cell) {
  const bool more = cell.at_least(7) && generation(cell.comm) == 1 && cell.is(Protocol::kLl128);
  if (cell.comm.nodes > 2) return more ? 105.0 : 80.0;
  return more ? 130.0 : 110.0;
}

float tree(const Cell& cell, float bus) {
  const bool one_node = cell.comm.nodes == 1;
  const double ll128_of_function =
      cell.constants.ll128_max[static_cast<std::size_t>(cell.function)];
  const double most =
      cell.at_least(8) ? of_channel(cell, cell.constants.tree_max) : old_tree_max(cell);
  bus = static_cast<float>(std::min(bus * (cell.at_least(8) ? .92 : .9), most));
  if (cell.is(Protocol::kLl)) {
    if (cell.at_least(8)) {
      bus = static_cast<float>(std::min(bus * 1.0 / 3.8, ll_max(cell)));
    } else {
      bus = static_cast<float>(bus * (cell.at_least(7) ? 1.0 / 3.8 : 1.0 / 3.0));
    }
  }
  if (cell.is(Protocol::kLl128)) {
    const double share = one_node || !cell.at_least(7) ? 7.0 / 9.0
                         : cell.at_least(10)           ? 120.0 / 128.0
                                                       : 0.915;
    double max_ll128 = std::numeric_limits<double>::max();
    if (cell.at_least(10)) {
      max_ll128 = of_channel(cell, cell.constants.tree_ll128_max);
    } else if (cell.at_least(7)) {
      max_ll128 = ll128_of_function * cell.graph().channels * (cell.at_least(8) ? 1.0 : 7.0 / 9.0);
    }
    bus = static_cast<float>(std::min(bus * share, max_ll128));
  }
  // If the same GPU connects to both the parent and a child, both connections share its network
  // card.
  if (cell.at_least(18, 3) && cell.graph().pattern == Pattern::kTree)
    bus = static_cast<float>(bus * .85);
  return bus;
}

float collnet_direct_halves(const Cell& cell, float of_one) {
  const Graph& graph = cell.graph();
  const float ppn = cell.ranks_per_node();
  if (cell.at_least(27, 3)) return ppn * std::min(graph.bw_intra, graph.bw_inter * 0.9F);
  const float weight = (ppn - 1) / (8 - 1);
  return static_cast<float>(ppn * of_one * (weight * 0.85 + (1 - weight) * 0.95));
}

float collnet(const Cell& cell, float bus, float of_one) {
  if (!cell.at_least(10)) bus = static_cast<float>(bus * .9);
  if (cell.is(Protocol::kLl) && !cell.at_least(9)) return static_cast<float>(bus * (1.0 / 6.0));
  if (!cell.is(Protocol::kSimple)) return 0;
  if (!cell.at_least(14)) return bus;
  if (cell.is(Algorithm::kCollNetChain))
    return cell.at_least(18) ? bus : static_cast<float>(bus * .75);
  if (cell.half_of_all_reduce()) return collnet_direct_halves(cell, of_one);
  // With CollNetDirect, every GPU needs its own network card.
  auto factor = static_cast<float>(cell.ranks_per_node() / (1.0 * cell.graph().channels));
  factor -= (factor - 1) / 2;
  bus /= factor;
  if (cell.comm.compute_capability >= 90 && cell.at_least(18)) bus = static_cast<float>(bus * .85);
  return bus;
}

/// Returns the ratio of algorithm bandwidth to bus bandwidth.
float ratio(const Cell& cell) {
  const auto of_steps = static_cast<float>((1.0 * cell.comm.ranks) / cell.steps());
  if (cell.is(Algorithm::kRing)) return of_steps;
  const bool halves = cell.half_of_all_reduce();
  if (halves && (cell.at_least(23) || (cell.at_least(20) && cell.is(Algorithm::kCollNetDirect))))
    return 1;
  if (cell.is(Algorithm::kNvls)) {
    if (cell.at_least(28, 3)) return of_steps;
    return cell.at_least(18, 3) ? static_cast<float>(5.0 / 6.0) : .75F;
  }
  if (cell.is(Algorithm::kNvlsTree)) {
    if (cell.at_least(28, 3)) return of_steps;
    if (cell.at_least(19)) return static_cast<float>(5.0 / 6.0);
    return static_cast<float>(.70 * cell.comm.nodes / std::max(1, 2 * (cell.comm.nodes - 1)));
  }
  return .5F;
}

}  // namespace

float bandwidth_of(const Cell& cell) {
  const float of_one = channel(cell);
  float bus = limited_by_generation(cell, static_cast<float>(cell.graph().channels) * of_one);
  if (cell.is(Algorithm::kRing)) bus = ring(cell, bus);
  if (cell.is(Algorithm::kTree)) bus = tree(cell, bus);
  if (cell.is(Algorithm::kPat)) bus = static_cast<float>(bus * (cell.at_least(24) ? .75 : .85));
  if (cell.collnet()) bus = collnet(cell, bus, of_one);
  return bus * ratio(cell);
}

}  // namespace tutti::core::nccl
