// Searches one graph of a node in the same way as NCCL. The search begins with the strictest
// requirements: equal channels, the nearest types of paths and the highest speed. channel_search.h
// searches for channels that meet the requirements. After a failure, relax() weakens one
// requirement. The requirements work like the digits of a counter whose highest digit is the speed:
// a requirement is weakened only when all lower digits have reached their limits, and the lower
// digits are then reset. When a graph is good enough, or no requirement can be weakened further, a
// second pass doubles the channels and requests more bandwidth per channel. The order, the limits
// on steps and the rounding of floats are exactly NCCL's. NCCL stops searches early, and the result
// of such a search depends on the order, the limits and the rounding (decision 29). SOURCE:
// NVIDIA/nccl v2.28.9 src/graph/search.cc, ncclTopoCompute.

#include "core/nccl/search/node_search.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "core/nccl/topology/rates.h"

namespace tutti::core::nccl {

namespace {

constexpr int kMaxNvlsHeads = 32;              // NCCL_MAX_NVLS_ARITY
constexpr int kMaxDirectHeads = 8;             // NCCL_MAX_DIRECT_ARITY + 1
constexpr std::int64_t kStepsInAll = 1 << 19;  // limit for one graph
constexpr int kSteps = 1 << 14;                // limit for one run of ChannelSearch
constexpr int kStepsOfSameChannels = 1 << 8;

PathType next(PathType type) { return static_cast<PathType>(static_cast<int>(type) + 1); }

/// True if the GPUs form two groups with NVLinks inside each group and no NVLinks between the
/// groups.
bool is_split(const Topology& topology, const Paths& paths) {
  const int gpus = topology.count(NodeKind::kGpu);
  std::vector<int> group, size(static_cast<std::size_t>(gpus));
  for (int g = 0; g < gpus; ++g) group.push_back(g);
  for (int g = 0; g < gpus; ++g) {
    for (int p = g + 1; p < gpus; ++p) {
      if (paths.between(NodeKind::kGpu, g, NodeKind::kGpu, p).type == PathType::kNvl)
        group[p] = group[g];
    }
  }
  for (const int g : group) ++size[g];
  return std::count_if(size.begin(), size.end(), [](int s) { return s > 1; }) == 2;
}

}  // namespace

/// Computes `most_`, the bandwidth of the best single path, and `total_`, the maximum total
/// bandwidth of the links of one GPU. The search does not try bandwidths above these bounds.
void NodeSearch::measure() {
  if (!over_nodes_ && gpus_ == 1) {
    most_ = total_ = kLocGbPerS;
    return;
  }
  const NodeKind far = over_nodes_ ? NodeKind::kNet : NodeKind::kGpu;
  for (int g = 0; g < gpus_; ++g) {
    for (int i = 0; i < topology_.count(far); ++i) {
      const Path& path = paths_.between(NodeKind::kGpu, g, far, i);
      if (!path.links.empty()) most_ = std::max(most_, path.gb_per_s);
    }
    float nvlink = 0, pcie = 0;
    for (const int l : topology_.node(NodeKind::kGpu, g).links) {
      const TopologyLink& link = topology_.links[l];
      if (link.kind == Wire::kNvl) nvlink += link.gb_per_s;
      if (link.kind == Wire::kPci) pcie = link.gb_per_s;
    }
    total_ = std::max(total_, std::max(nvlink, pcie));
  }
}

NodeSearch::Range NodeSearch::range(Pattern pattern) const {
  Range range;
  const bool may_cross = pattern == Pattern::kRing || pattern == Pattern::kBalancedTree ||
                         pattern == Pattern::kSplitTree;
  range.cross_nic = topology_.count(NodeKind::kNet) > 1 && may_cross ? settings_.cross_nic : 0;
  if (gpus_ > 1) {
    range.min_intra = paths_.nearest(NodeKind::kGpu);
    range.max_intra = paths_.farthest(NodeKind::kGpu);
  }
  if (over_nodes_) {
    range.min_inter = paths_.nearest(NodeKind::kNet);
    range.max_inter = range.max_intra = paths_.farthest(NodeKind::kNet);
  }
  range.same_channels = pattern != Pattern::kNvls;
  return range;
}

Graph NodeSearch::find(int id, Pattern pattern, bool collnet, int min_channels, int max_channels) {
  const Range bounds = range(pattern);
  Trial start;
  start.pattern = pattern;
  start.collnet = collnet;
  start.cross_nic = bounds.cross_nic == 1 ? 1 : 0;
  start.type_intra = bounds.min_intra;
  start.type_inter = bounds.min_inter;
  start.same_channels = bounds.same_channels;
  start.min_channels = min_channels;
  start.max_channels = max_channels;
  if (pattern == Pattern::kNvls) start.max_channels = std::min(kMaxNvlsHeads, gpus_);
  if (pattern == Pattern::kCollnetDirect) start.max_channels = std::min(kMaxDirectHeads, gpus_);
  if (gpus_ == 1 && pattern != Pattern::kRing) start.pattern = Pattern::kTree;
  // With NVLS inside a node, all GPUs read the same amount of data, so require one channel per GPU.
  if (!over_nodes_ && pattern == Pattern::kNvls) start.min_channels = start.max_channels;
  // If the GPUs form two groups without NVLinks between them, NCCL wants trees with two channels,
  // which are faster. Trees have as many channels as rings, so require at least two rings.
  if (pattern == Pattern::kRing && is_split(topology_, paths_) && start.max_channels >= 2 &&
      start.min_channels == 1)
    start.min_channels = 2;
  start.gpus.resize(start.max_channels * gpus_);
  start.nets.resize(static_cast<std::size_t>(start.max_channels) * 2);
  return made(id, search(std::move(start), bounds));
}

Trial NodeSearch::search(Trial start, const Range& range) {
  Trial best = start, trial = std::move(start);
  float total = total_;
  // Channels of other patterns than rings do not return to their first GPU.
  if (gpus_ > 1 && best.pattern != Pattern::kRing)
    total = static_cast<float>(total * (gpus_ * 1.0 / (gpus_ - 1)));
  std::size_t speed = 0;
  const auto too_fast = [&](float gb_per_s) {
    return gb_per_s > most_ || gb_per_s * static_cast<float>(best.min_channels) > total;
  };
  while (too_fast(speeds_[speed]) && speed + 1 < speeds_.size()) ++speed;
  trial.bw_intra = trial.bw_inter = speeds_[speed];
  std::int64_t steps_left = kStepsInAll;
  for (bool first_pass = true;;) {
    int steps = trial.same_channels ? kStepsOfSameChannels : kSteps;
    steps_left -= steps;
    walks_.run(trial, best, steps);
    if (walks_.gave_up()) return best;
    const bool enough = steps == ChannelSearch::kPerfect ||
                        static_cast<float>(best.channels) * best.bw_inter >= total_;
    if (first_pass && !enough && relax(trial, best, range, {steps, steps_left}, speed)) continue;
    if (first_pass) {
      first_pass = false;
      steps = ChannelSearch::kPerfect;
      double_channels(best);
      trial = best;
      speed = 0;
      while (speeds_[speed] > best.bw_inter && speed + 1 < speeds_.size()) ++speed;
      trial.bw_intra = trial.bw_inter = speeds_[speed];
      trial.min_channels = best.channels;
    }
    if (steps != 0 && speed > 0 && improve(trial, best, speed)) continue;
    break;
  }
  if (best.channels == 0 && !best.collnet && best.pattern != Pattern::kNvls) fall_back(best);
  return best;
}

/// Relaxes one requirement for the next run of the channel search. Returns false if no requirement
/// can be relaxed or no steps are left.
bool NodeSearch::relax(Trial& trial, const Trial& best, const Range& range, const StepsLeft& left,
                       std::size_t& speed) const {
  const CpuFacts& cpu = topology_.node(NodeKind::kCpu, 0).cpu;
  const bool by_amd = cpu.arch == CpuArch::kX86 && cpu.vendor == CpuVendor::kAmd &&
                      trial.type_intra == PathType::kSys;
  if (trial.same_channels && !by_amd) {
    trial.same_channels = false;
    return true;
  }
  trial.same_channels = range.same_channels;

  // The next runs of the channel search may use the steps that the last run did not use.
  left.of_all += left.of_walk;
  if (left.of_all < 0 && best.channels > 0) return false;

  if (sm_ >= 90 && trial.pattern == Pattern::kBalancedTree) {
    trial.pattern = Pattern::kTree;
    return true;
  }
  trial.pattern = best.pattern;

  const PathType max_intra = over_nodes_ ? trial.type_inter : range.max_intra;
  if (trial.type_intra < max_intra && (best.channels == 0 || trial.type_intra < best.type_intra)) {
    trial.type_intra = next(trial.type_intra);
    if (trial.type_intra < PathType::kDis) return true;
  }
  trial.type_intra = range.min_intra;

  const bool may_be_farther =
      best.channels == 0 || trial.type_inter < best.type_inter || trial.type_inter < PathType::kPxn;
  if (over_nodes_ && trial.type_inter < range.max_inter && may_be_farther) {
    trial.type_inter = next(trial.type_inter);
    if (trial.type_inter < PathType::kDis) return true;
  }
  trial.type_inter = range.min_inter;

  const bool may_cross = best.pattern == Pattern::kRing || best.pattern == Pattern::kBalancedTree;
  if (range.cross_nic == 2 && trial.cross_nic == 0 && may_cross) {
    trial.cross_nic = 2;
    return true;
  }
  trial.cross_nic = range.cross_nic == 1 ? 1 : 0;

  // Try lower speeds until a graph is found. Then try lower speeds only as long as more channels
  // might give nearly the same total bandwidth.
  if (speed + 1 == speeds_.size() ||
      (best.channels > 0 && !(speeds_[speed + 1] / best.bw_inter > .49)))
    return false;
  trial.bw_intra = trial.bw_inter = speeds_[++speed];
  return true;
}

/// Requests more bandwidth for the same number of channels. Returns false if no higher bandwidth
/// can be requested.
bool NodeSearch::improve(Trial& trial, const Trial& best, std::size_t& speed) const {
  if (best.pattern == Pattern::kRing) {
    trial.bw_intra = trial.bw_inter = speeds_[--speed];
    return true;
  }
  if (best.pattern == Pattern::kNvls && trial.bw_inter == best.bw_inter &&
      trial.bw_inter < trial.bw_intra * 2) {
    trial.min_channels = trial.max_channels = best.channels;
    trial.bw_inter = speeds_[--speed];
    return true;
  }
  // CollNet, and trees over two nodes, send more data inside a node than between nodes.
  if (trial.bw_intra != best.bw_intra || !(trial.bw_intra < trial.bw_inter * 2)) return false;
  trial.bw_intra = speeds_[--speed];
  return true;
}

/// Replaces each fast channel by two channels with half the bandwidth, because one multiprocessor
/// cannot saturate a fast channel.
void NodeSearch::double_channels(Trial& graph) const {
  if (graph.channels == 0 || graph.pattern == Pattern::kNvls || graph.bw_intra < 25) return;
  if (sm_ > 80 && graph.bw_intra < 50 && graph.channels > 4) return;
  const int doubled = std::min(graph.channels * 2, graph.max_channels);
  const auto repeat = [&](std::vector<int>& rows, int width) {
    const std::size_t row = width;
    for (auto c = static_cast<std::size_t>(graph.channels); c < static_cast<std::size_t>(doubled);
         ++c) {
      for (std::size_t i = 0; i < row; ++i)
        rows[c * row + i] = rows[(c - static_cast<std::size_t>(graph.channels)) * row + i];
    }
  };
  repeat(graph.gpus, gpus_);
  repeat(graph.nets, 2);
  const auto times = static_cast<float>((doubled + graph.channels - 1) / graph.channels);
  graph.bw_intra /= times;
  graph.bw_inter /= times;
  graph.channels = doubled;
}

/// If the search has found no graph, fills in a slow but valid graph.
void NodeSearch::fall_back(Trial& graph) const {
  for (int g = 0; g < gpus_; ++g) graph.gpus[g] = g;
  graph.bw_intra = 0.1F;
  graph.type_intra = PathType::kSys;
  if (topology_.count(NodeKind::kNet) > 0) {
    graph.nets[0] = walks_.nets_for(0, std::nullopt).front();
    graph.nets[1] = walks_.nets_for(gpus_ - 1, std::nullopt).front();
    graph.bw_inter = 0.1F;
    graph.type_inter = PathType::kSys;
  } else {
    graph.bw_inter = 0;
    graph.type_inter = PathType::kDis;
  }
  graph.channels = 1;
}

Graph NodeSearch::made(int id, const Trial& found) const {
  Graph graph;
  graph.id = id;
  graph.pattern = found.pattern;
  graph.cross_nic = found.cross_nic;
  graph.channels = found.channels;
  graph.bw_intra = found.channels > 0 ? found.bw_intra : 0;
  graph.bw_inter = found.channels > 0 ? found.bw_inter : 0;
  graph.latency_inter = found.latency_inter;
  graph.type_intra = found.type_intra;
  graph.type_inter = found.type_inter;
  graph.same_channels = found.same_channels;
  const int listed = found.pattern == Pattern::kNvls ? 1 : gpus_;  // NVLS lists only the head
  for (int c = 0; c < found.channels; ++c) {
    GraphChannel channel;
    for (int i = 0; i < listed; ++i) {
      const int place = found.gpus[c * gpus_ + i];
      channel.gpus.push_back(topology_.node(NodeKind::kGpu, place).gpu.rank);
    }
    for (int end = 0; over_nodes_ && end < 2; ++end) {
      const int place = found.nets[c * 2 + end];
      channel.nets.push_back(topology_.node(NodeKind::kNet, place).id());
    }
    graph.orders.push_back(std::move(channel));
  }
  return graph;
}

}  // namespace tutti::core::nccl
