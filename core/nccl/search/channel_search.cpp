// The search builds channels one after the other, and each channel GPU by GPU, with backtracking.
// Every function undoes its own changes before it returns: cross() with -1 undoes cross() with 1,
// and bits of used_ are cleared. Only `best` and `steps` keep results of a branch of the search. A
// complete channel is compared with the best result immediately. After a complete channel, the
// search looks for the next channel with the remaining bandwidth. When the maximum number of
// channels is reached, `steps` becomes kPerfect, which is negative and therefore ends all loops.
//
// Inside a node, the search begins with the order of the PCI bus for the first channel, and with
// the order of the previous channel for every later channel. channel_crossings.cpp subtracts a
// channel's bandwidth from the links that the channel crosses, and adds it again when the channel
// is undone. node_search.cpp chooses the requirements for channels, and relaxes them after a
// failure.

#include "core/nccl/search/channel_search.h"

#include <algorithm>
#include <cmath>

namespace tutti::core::nccl {

namespace {

bool has_heads(Pattern pattern) {
  return pattern == Pattern::kNvls || pattern == Pattern::kCollnetDirect;
}

}  // namespace

ChannelSearch::ChannelSearch(const Topology& topology, const Paths& paths,
                             const SearchSettings& settings, bool over_nodes)
    : topology_(topology),
      paths_(paths),
      settings_(settings),
      over_nodes_(over_nodes),
      gpus_(topology.count(NodeKind::kGpu)),
      used_(gpus_),
      nets_((gpus_ + 1) * kDistances) {
  for (const TopologyLink& link : topology.links) {
    left_.push_back(link.gb_per_s);
    const TopologyNode& end = topology.nodes[link.to];
    const bool cpu = end.kind == NodeKind::kCpu;
    // GPUs before Ampere read incoming data, so they send read requests. POWER's NVLinks share both
    // directions. Intel's CPUs split transfers between GPUs into packets of 64 bytes.
    link_traits_.push_back(
        {.pcie = link.kind == Wire::kPci,
         .requests_data = end.kind == NodeKind::kGpu && end.gpu.sm < 80,
         .both_ways = cpu && end.cpu.arch == CpuArch::kPower && link.kind == Wire::kNvl,
         .to_intel = cpu && end.cpu.arch == CpuArch::kX86 && end.cpu.vendor == CpuVendor::kIntel});
  }
  for (int n = 0; n < topology.count(NodeKind::kNet); ++n) {
    port_left_.push_back(port(n).gb_per_s);
    local_gpu_.push_back(paths.local_gpu(n));
  }
}

void ChannelSearch::run(Trial& trial, Trial& best, int& steps) {
  trial.channels = 0;
  trial.gpus.resize(trial.max_channels * gpus_);
  trial.nets.resize(trial.max_channels * 2);
  lay(trial, best, steps);
}

void ChannelSearch::lay(Trial& trial, Trial& best, int& steps) {
  Rest rest;
  if (over_nodes_) {
    rest.back_to_net = trial.pattern == Pattern::kRing        ? gpus_ - 1
                       : trial.pattern == Pattern::kSplitTree ? 1
                                                              : 0;
    lay_from_nets(trial, best, steps, rest);
  } else {
    if (trial.pattern == Pattern::kRing) rest.back_to_first = gpus_ - 1;
    lay_inside(trial, best, steps, rest);
  }
}

void ChannelSearch::lay_inside(Trial& trial, Trial& best, int& steps, const Rest& rest) {
  if (trial.pattern == Pattern::kNvls) {
    enter(trial, best, steps, 0, rest, std::nullopt, -1, trial.channels);
    return;
  }
  Rest first = rest;
  if (trial.channels == 0) {
    first.order = Order::kPci;
    enter(trial, best, steps, 0, first, std::nullopt, -1, 0);
  } else {
    first.order = Order::kReplayed;
    const int g = trial.gpus[(trial.channels - 1) * gpus_];
    enter(trial, best, steps, 0, first, std::nullopt, -1, g);
  }
  if (trial.same_channels && trial.channels > 0) return;
  for (int g = 0; g < gpus_; ++g) enter(trial, best, steps, 0, rest, std::nullopt, -1, g);
}

void ChannelSearch::lay_from_nets(Trial& trial, Trial& best, int& steps, const Rest& rest) {
  const float rate = std::trunc(trial.bw_inter);  // NCCL stores this rate as an int
  const std::vector<int>& all = nets(-1, trial.type_inter);
  const auto count = all.size();
  const auto row = static_cast<std::size_t>(trial.channels) * 2;
  bool head_found = false;
  for (std::size_t i = 0; i < count; ++i) {
    if (has_heads(trial.pattern) && head_found) break;
    const int net = all[(static_cast<std::size_t>(trial.channels) + i) % count];
    if (trial.collnet && !port(net).collectives) continue;
    if (port_left_[net] < rate) continue;
    // An odd channel uses the same two cards as the previous channel, in reverse order.
    if (trial.pattern == Pattern::kRing && trial.cross_nic == 2 && trial.channels % 2 == 1 &&
        net != trial.nets[row - 1])
      continue;
    trial.nets[row] = net;
    trial.latency_inter = port(net).latency_us;
    use_port(net, rate);
    if (has_heads(trial.pattern)) {
      if (static_cast<std::size_t>(trial.channels) < count)
        head_found = lay_head(trial, best, steps, rest, net) || head_found;
    } else {
      lay_from_net(trial, best, steps, rest, net);
    }
    use_port(net, -rate);
  }
}

bool ChannelSearch::lay_head(Trial& trial, Trial& best, int& steps, const Rest& rest, int net) {
  const int gpu = local_gpu_[net];
  if (gpu < 0) return false;
  for (int c = 0; c < trial.channels; ++c) {
    if (trial.gpus[c * gpus_] == gpu)
      return false;  // already the head of another channel, through another port
  }
  enter(trial, best, steps, 0, rest, NodeKind::kNet, net, gpu);
  return true;
}

void ChannelSearch::lay_from_net(Trial& trial, Trial& best, int& steps, const Rest& rest, int net) {
  if (trial.channels > 0 && trial.same_channels) {
    const int g = trial.gpus[(trial.channels - 1) * gpus_];
    Rest replayed = rest;
    replayed.order = Order::kReplayed;
    enter(trial, best, steps, 0, replayed, NodeKind::kNet, net, g);
    return;
  }
  if (trial.channels == 0 && topology_.count(NodeKind::kNvs) == 0) {
    // First try the order of the PCI bus as a baseline, with a separate limit on steps.
    int few = 1 << 10;
    Rest pci = rest;
    pci.order = Order::kPci;
    enter(trial, best, few, 0, pci, NodeKind::kNet, net, 0);
    if (few == kPerfect) steps = kPerfect;
  }
  const int local = local_gpu_[net];
  if (local >= 0) enter(trial, best, steps, 0, rest, NodeKind::kNet, net, local);
  const Paths::Locals& locals = paths_.local_gpus(net);
  if (locals.type == PathType::kDis) return;
  for (const int g : locals.places) {
    if (g != local) enter(trial, best, steps, 0, rest, NodeKind::kNet, net, g);
  }
}

void ChannelSearch::enter(Trial& trial, Trial& best, int& steps, int step, const Rest& rest,
                          std::optional<NodeKind> from, int place, int gpu) {
  const std::uint64_t bit = std::uint64_t{1} << trial.channels;
  if (from && !cross(trial, *from, place, NodeKind::kGpu, gpu, 1)) return;
  used_[gpu] ^= bit;
  at_gpu(trial, best, steps, gpu, step, rest);
  used_[gpu] ^= bit;
  if (from) cross(trial, *from, place, NodeKind::kGpu, gpu, -1);
}

void ChannelSearch::complete(Trial& trial, Trial& best, int& steps) {
  ++trial.channels;
  if (better(trial, best)) {
    best = trial;
    if (trial.channels == trial.max_channels) steps = kPerfect;
  }
  if (trial.channels < trial.max_channels) lay(trial, best, steps);
  --trial.channels;
}

bool ChannelSearch::better(const Trial& trial, const Trial& best) const {
  if (trial.channels < trial.min_channels) return false;
  const auto all = [](int channels, float gb_per_s) {
    return static_cast<float>(channels) * gb_per_s;
  };
  if (trial.pattern == Pattern::kNvls) {
    // Each channel is a GPU that reads from the switch, so more channels are better.
    return (trial.channels > best.channels && trial.channels <= gpus_) ||
           all(trial.channels, trial.bw_inter) > all(best.channels, best.bw_inter);
  }
  const float mine = all(trial.channels, trial.bw_intra), other = all(best.channels, best.bw_intra);
  if (mine != other) return mine > other;
  return trial.pattern == best.pattern && trial.cross_nic == best.cross_nic &&
         trial.hops < best.hops;
}

void ChannelSearch::at_gpu(Trial& trial, Trial& best, int& steps, int gpu, int step,
                           const Rest& rest) {
  if (steps <= 0 || gave_up()) return;
  --steps;
  if (step == gpus_) {
    complete(trial, best, steps);
    return;
  }
  const std::size_t row = trial.channels * gpus_;
  trial.gpus[row + static_cast<std::size_t>(step)] = gpu;
  if (step == rest.back_to_net) {
    if (over_nodes_) go_to_net(trial, best, steps, gpu, step, rest);
  } else if (trial.pattern == Pattern::kNvls) {
    pull_from_switch(trial, best, steps, gpu);
  } else if (trial.pattern == Pattern::kCollnetDirect) {
    reduce_at_head(trial, best, steps, gpu);
  } else if (step < gpus_ - 1) {
    go_to_next(trial, best, steps, gpu, step, rest);
  } else if (step == rest.back_to_first) {
    const int first = trial.gpus[row];
    if (!cross(trial, NodeKind::kGpu, gpu, NodeKind::kGpu, first, 1)) return;
    at_gpu(trial, best, steps, first, step + 1, {rest.back_to_net, -1, rest.order});
    cross(trial, NodeKind::kGpu, gpu, NodeKind::kGpu, first, -1);
  } else {
    at_gpu(trial, best, steps, gpu, gpus_, {-1, -1, rest.order});
  }
}

void ChannelSearch::go_to_net(Trial& trial, Trial& best, int& steps, int gpu, int step,
                              const Rest& rest) {
  const bool balanced = trial.pattern == Pattern::kBalancedTree;
  Rest next = rest;
  // The first and the second GPU each send half of the traffic to other nodes.
  next.back_to_net = balanced && step == 0 ? 1 : -1;
  const auto cross_to = [&](int net, float times) {
    const float whole = trial.bw_inter;
    if (balanced) trial.bw_inter /= 2;
    const bool crossed = cross(trial, NodeKind::kGpu, gpu, NodeKind::kNet, net, times);
    trial.bw_inter = whole;
    return crossed;
  };
  for (const int net : nets(gpu, trial.type_inter)) {
    if (!may_leave_by(trial, net, step) || !cross_to(net, 1)) continue;
    trial.nets[static_cast<std::size_t>(trial.channels) * 2 + 1] = net;
    at_gpu(trial, best, steps, gpu, step, next);
    cross_to(net, -1);
  }
}

bool ChannelSearch::may_leave_by(const Trial& trial, int net, int step) const {
  const auto row = static_cast<std::size_t>(trial.channels) * 2;
  const int start = trial.nets[row];
  if (trial.pattern == Pattern::kTree && net != start) return false;
  if (trial.pattern == Pattern::kRing && trial.cross_nic == 2) {
    if (trial.channels % 2 == 1 && net != trial.nets[row - 2]) return false;
  } else if (trial.cross_nic == 0) {
    if (port(net).asic != port(start).asic || port(net).port != port(start).port) return false;
  }
  return trial.pattern != Pattern::kBalancedTree || step == 0 || net == trial.nets[row + 1];
}

void ChannelSearch::go_to_next(Trial& trial, Trial& best, int& steps, int gpu, int step,
                               const Rest& rest) {
  std::vector<int> next;
  switch (rest.order) {
    case Order::kPci: next = {step + 1}; break;
    case Order::kReplayed:
      // For the first channel, there is no previous channel whose order could be repeated.
      if (trial.channels == 0) return;
      next = {trial.gpus[(trial.channels - 1) * gpus_ + step + 1]};
      break;
    case Order::kSearched:
      next = next_gpus(trial, gpu,
                       rest.back_to_net == -1         ? 0
                       : rest.back_to_net == step + 1 ? 1
                                                      : -1);
  }
  for (const int g : next) enter(trial, best, steps, step + 1, rest, NodeKind::kGpu, gpu, g);
}

int ChannelSearch::pcie_gb_per_s(int gpu) const {
  const int node = topology_.all(NodeKind::kGpu)[gpu];
  for (const int l : topology_.nodes[node].links) {
    const TopologyLink& up = topology_.links[l];
    if (up.kind != Wire::kPci) continue;
    for (const int d : topology_.nodes[up.to].links) {
      if (topology_.links[d].to != node) continue;
      return static_cast<int>(std::min(left_[l], left_[d]));
    }
  }
  return -1;
}

std::vector<int> ChannelSearch::next_gpus(const Trial& trial, int gpu, int sort_by_net) const {
  struct Score {
    // GPUs are sorted by these fields, in this order. Rates are negated, because higher rates come
    // first.
    int net_rate = 0, pcie_rate = 0;
    std::size_t net_hops = 0;
    int rate = 0;
    std::size_t hops = 0;
    int distance = 0;
    int gpu = 0;
    auto operator<=>(const Score&) const = default;
  };
  if (topology_.count(NodeKind::kNvs) > 0) return next_neighbours(trial, gpu);
  std::vector<Score> scores;
  for (int i = 1; i < gpus_; ++i) {
    const int g = (gpu + i) % gpus_;
    if (!may_follow(trial, gpu, g)) continue;
    const Path& path = paths_.between(NodeKind::kGpu, gpu, NodeKind::kGpu, g);
    Score score{.rate = -static_cast<int>(path.gb_per_s),
                .hops = path.links.size(),
                .distance = i,
                .gpu = g};
    if (sort_by_net != 0) {
      const int net = trial.nets[static_cast<std::size_t>(trial.channels) * 2];
      const Path& from_net = paths_.between(NodeKind::kNet, net, NodeKind::kGpu, g);
      score.net_hops = from_net.links.size();
      score.pcie_rate = -pcie_gb_per_s(g);
      score.net_rate = -static_cast<int>(from_net.gb_per_s);
    }
    scores.push_back(score);
  }
  std::sort(scores.begin(), scores.end());
  const bool identical = std::all_of(scores.begin(), scores.end(), [&](const Score& s) {
    return s.rate == scores.front().rate && s.hops == scores.front().hops;
  });
  // If all candidates have equal scores, first try those far from the network, because the path
  // back should end near the network.
  if (sort_by_net == -1 && identical) std::reverse(scores.begin(), scores.end());
  std::vector<int> next;
  for (const Score& score : scores) next.push_back(score.gpu);
  return next;
}

std::vector<int> ChannelSearch::next_neighbours(const Trial& trial, int gpu) const {
  // NVSwitches work better if a GPU communicates with few other GPUs, so try only the GPUs with the
  // next lower and the next higher number.
  const int before = (gpu - 1 + gpus_) % gpus_, behind = (gpu + 1) % gpus_;
  std::vector<int> wanted;
  if (trial.pattern == Pattern::kRing)
    wanted = {before, behind};
  else if (trial.pattern == Pattern::kSplitTree || trial.pattern == Pattern::kBalancedTree)
    wanted = {behind, before};
  else
    wanted = {behind};
  if (before == behind) wanted.resize(1);
  std::erase_if(wanted, [&](int g) { return !may_follow(trial, gpu, g); });
  return wanted;
}

void ChannelSearch::pull_from_switch(Trial& trial, Trial& best, int& steps, int head) {
  // Every GPU receives data from the switch and sends data to the switch. The head transfers twice
  // as much data as the other GPUs, because it also handles the result for the network.
  const auto times = [head](int g) { return g == head ? 2.0F : 1.0F; };
  int down = 0, up = 0;
  while (down < gpus_ && cross(trial, NodeKind::kNvs, 0, NodeKind::kGpu, down, times(down))) ++down;
  if (down == gpus_) {
    while (up < gpus_ && cross(trial, NodeKind::kGpu, up, NodeKind::kNvs, 0, times(up))) ++up;
    if (up == gpus_) at_gpu(trial, best, steps, head, gpus_, {});
  }
  while (up-- > 0) cross(trial, NodeKind::kGpu, up, NodeKind::kNvs, 0, -times(up));
  while (down-- > 0) cross(trial, NodeKind::kNvs, 0, NodeKind::kGpu, down, -times(down));
}

void ChannelSearch::reduce_at_head(Trial& trial, Trial& best, int& steps, int head) {
  const float share = 1.0F / static_cast<float>(gpus_ - 1);
  int out = 0, in = 0;
  while (out < gpus_ && cross(trial, NodeKind::kGpu, head, NodeKind::kGpu, out, share)) ++out;
  if (out == gpus_) {
    while (in < gpus_ && cross(trial, NodeKind::kGpu, in, NodeKind::kGpu, head, share)) ++in;
    if (in == gpus_) {
      auto others = trial.gpus.begin() + trial.channels * gpus_ + 1;
      for (int g = 0; g < gpus_; ++g) {
        if (g != head) *others++ = g;
      }
      at_gpu(trial, best, steps, head, gpus_, {});
    }
  }
  while (in-- > 0) cross(trial, NodeKind::kGpu, in, NodeKind::kGpu, head, -share);
  while (out-- > 0) cross(trial, NodeKind::kGpu, head, NodeKind::kGpu, out, -share);
}

}  // namespace tutti::core::nccl
