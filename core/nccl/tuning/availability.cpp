// Determines which combinations of collective, algorithm and protocol (cells) a version does not
// support or enable. For example, LL128 needs paths between GPUs that never split 128-byte stores,
// which not all paths guarantee.

#include "core/nccl/tuning/parts.h"

namespace tutti::core::nccl {
namespace {

bool ll128_is_safe_between(const Cell& cell) {
  const PathType type = cell.graph().type_inter;
  const bool hopper = cell.comm.compute_capability >= 90;
  const bool c2c = cell.settings.ll128_c2c.value_or(true);
  if (!cell.at_least(7)) return type <= PathType::kPix;
  if (!cell.at_least(17) || !hopper) return type <= PathType::kPxb;
  if (cell.at_least(27, 5)) return type <= (c2c ? PathType::kPxn : PathType::kPxb);
  // Before 2.27, NCCL had no type kP2c, and treated such a path as a path through the CPU.
  if (type == PathType::kP2c) return cell.at_least(27) && c2c;
  return type <= PathType::kPxn;
}

bool ll128_is_known_on(const Cell& cell) {
  const int cc = cell.comm.compute_capability;
  const bool identical = cc == cell.comm.max_compute_capability;
  if (!identical && !(cell.at_least(30) && cc >= 90)) return false;
  if (cell.at_least(27)) return cc >= 70;
  if (cc == 70) return true;
  if (cc == 80) return cell.at_least(7);
  if (cc == 90) return cell.at_least(15);
  return (cc == 100 || cc == 120) && cell.at_least(25);
}

bool ll128_is_safe(const Cell& cell) {
  const PathType max_inside = cell.at_least(18, 3) ? PathType::kNvb : PathType::kNvl;
  return ll128_is_safe_between(cell) && cell.graph().type_intra <= max_inside &&
         ll128_is_known_on(cell);
}

/// True if the version supports all-gather and reduce-scatter with the cell's algorithm.
bool has_halves(const Cell& cell) {
  switch (cell.algorithm) {
    case Algorithm::kRing: return true;
    case Algorithm::kNvls: return cell.at_least(19) || (cell.at_least(17) && !cell.at_least(18));
    case Algorithm::kCollNetDirect: return cell.at_least(20);
    case Algorithm::kPat: return cell.at_least(23);
    default: return false;
  }
}

bool in_version(const Cell& cell) {
  switch (cell.algorithm) {
    case Algorithm::kCollNetChain: return cell.at_least(14);
    case Algorithm::kNvls: return cell.at_least(17);
    case Algorithm::kNvlsTree: return cell.at_least(18);
    case Algorithm::kPat: return cell.at_least(23);
    default: return true;
  }
}

bool pat_is_on(const Cell& cell) {
  if (cell.comm.compute_capability < 60 && cell.at_least(26)) return false;
  return cell.settings.pat.value_or(cell.comm.nodes == cell.comm.ranks);
}

}  // namespace

const Graph& Cell::graph() const {
  const Graphs& graphs = comm.graphs;
  switch (algorithm) {
    case Algorithm::kRing: return graphs.ring;
    case Algorithm::kCollNetDirect:
      return at_least(19) ? graphs.collnet_direct : graphs.collnet_chain;
    case Algorithm::kCollNetChain: return graphs.collnet_chain;
    case Algorithm::kNvls: return at_least(18) ? graphs.nvls : graphs.ring;
    case Algorithm::kNvlsTree: return graphs.nvls;
    case Algorithm::kTree:
    case Algorithm::kPat: break;
  }
  return graphs.tree;
}

int log2i(std::int64_t value) {
  int log = 0;
  while (value >>= 1) ++log;
  return log;
}

const char* why_no_nvls(const Cell& cell) {
  if (!cell.settings.nvls.value_or(true)) return "NCCL_NVLS_ENABLE=0";
  return cell.comm.nvswitch && cell.comm.compute_capability >= 90
             ? "the NVSwitches cannot multicast (in_switch_reduction in the machine file)"
             : "these GPUs do not support NVLS";
}

const char* missing(const Cell& cell) {
  if (!in_version(cell))
    return "this release of NCCL does not have this algorithm with this protocol";
  const bool whole = cell.all_reduce()           ? !cell.is(Algorithm::kPat)
                     : cell.half_of_all_reduce() ? has_halves(cell)
                                                 : cell.is(Algorithm::kRing);
  if (!whole) return "does not support this collective";
  const bool simple_only = cell.is(Algorithm::kNvls) || cell.is(Algorithm::kNvlsTree) ||
                           cell.is(Algorithm::kPat) || (cell.collnet() && cell.at_least(9));
  if (simple_only && !cell.is(Protocol::kSimple))
    return "this algorithm supports only protocol Simple";
  if (cell.is(Algorithm::kPat) && !pat_is_on(cell))
    return "PAT needs one GPU per node, or NCCL_PAT_ENABLE=1";
  const bool nvls = cell.is(Algorithm::kNvls) || cell.is(Algorithm::kNvlsTree);
  if (nvls && (!cell.comm.nvls || cell.comm.nvls_channels == 0)) return why_no_nvls(cell);
  if (nvls && cell.at_least(28, 3) && cell.graph().channels < 2) return "NVLS needs two channels";
  if (cell.graph().channels == 0) return "NCCL's search found no graph for this algorithm";
  return nullptr;
}

const char* switched_off(const Cell& cell) {
  const bool far = cell.comm.nodes > 1;
  if (cell.is(Algorithm::kNvlsTree) && !far) return "NVLSTree is for several nodes";
  const bool needs_collnet = cell.collnet() || (cell.is(Algorithm::kNvls) && far);
  if (needs_collnet && !cell.settings.collnet.value_or(false))
    return "needs NCCL_COLLNET_ENABLE=1 and a network that can reduce (SHARP)";
  if (needs_collnet && !cell.comm.collnet) return "the network cannot reduce (no CollNet)";
  if (cell.is(Algorithm::kCollNetDirect) && !cell.comm.nvswitch && cell.at_least(14))
    return "needs an NVSwitch";
  const bool heads = (cell.is(Algorithm::kNvls) || cell.is(Algorithm::kCollNetDirect)) && far &&
                     cell.half_of_all_reduce();
  if (far && cell.is(Algorithm::kNvls) && !cell.at_least(18))
    return "this release of NCCL supports this algorithm only inside one node";
  if (heads && cell.is(Algorithm::kNvls) && !cell.at_least(27, 3))
    return "this release of NCCL supports this algorithm only inside one node";
  const int ways_out = cell.comm.nvls && cell.at_least(27, 3) ? cell.comm.graphs.nvls.channels
                                                              : cell.comm.collnet_heads;
  if (heads && cell.comm.ranks_of_node() > ways_out) return "every GPU needs its own network card";
  const bool wanted =
      cell.settings.protocols[static_cast<std::size_t>(cell.function)][1] == Preference::kYes;
  if (cell.is(Protocol::kLl128) && !wanted && !ll128_is_safe(cell))
    return "LL128 is not safe on these paths or GPUs";
  return nullptr;
}

}  // namespace tutti::core::nccl
