// Computes which links and network ports a step of the search uses up, and which ports it may try.
// This file continues channel_search.cpp.

#include <algorithm>
#include <cmath>

#include "core/nccl/search/channel_search.h"

namespace tutti::core::nccl {

namespace {

/// Rounds a rate. After rounding, a rate that is subtracted and added again gives exactly the
/// original value.
float rounded(float gb_per_s) { return std::round(gb_per_s * 1000) / 1000; }

bool is_tree(Pattern pattern) {
  return pattern == Pattern::kBalancedTree || pattern == Pattern::kSplitTree ||
         pattern == Pattern::kTree;
}

}  // namespace

void ChannelSearch::use_port(int net, float gb_per_s) {
  for (int n = 0; n < topology_.count(NodeKind::kNet); ++n) {
    if (port(n).asic == port(net).asic && port(n).port == port(net).port) port_left_[n] -= gb_per_s;
  }
}

bool ChannelSearch::cross(Trial& trial, NodeKind from, int from_place, NodeKind to, int to_place,
                          float times) {
  ++crossings_;
  const Path& path = paths_.between(from, from_place, to, to_place);
  const bool inside = from != NodeKind::kNet && to != NodeKind::kNet;
  const PathType farthest = inside ? trial.type_intra : trial.type_inter;
  if (path.type == PathType::kDis) return false;
  if (times == 1) {
    if (path.type > farthest) return false;
    if (is_tree(trial.pattern) && paths_.between(to, to_place, from, from_place).type > farthest)
      return false;
  }
  const float rate = (inside ? trial.bw_intra : trial.bw_inter) * times;
  const TopologyNode& start = topology_.node(from, from_place);
  const int crossed = take(path, start, path.links.size(), rate);
  if (crossed < static_cast<int>(path.links.size())) {
    take(path, start, static_cast<std::size_t>(crossed), -rate);
    return false;
  }
  trial.hops = static_cast<int>(static_cast<float>(trial.hops) +
                                times * static_cast<float>(path.links.size()));
  return true;
}

int ChannelSearch::take(const Path& path, const TopologyNode& start, std::size_t steps,
                        float gb_per_s) {
  const bool from_gpu = start.kind == NodeKind::kGpu;
  float pcie = gb_per_s;
  if (path.type == PathType::kPhb && from_gpu) {
    for (const int l : path.links) {
      if (link_traits_[l].to_intel) pcie = gb_per_s * 6 / 5;
    }
  }
  for (std::size_t step = 0; step < steps; ++step) {
    const std::size_t l = path.links[step];
    const LinkTraits& traits = link_traits_[l];
    const float forward = traits.pcie ? pcie : gb_per_s;
    float backward = 0;
    if (traits.requests_data && !from_gpu) backward += forward / 8;
    if (traits.both_ways) backward += forward;
    if (left_[l] < forward) return static_cast<int>(step);
    if (backward != 0) {
      const std::size_t back = topology_.links[l].back;
      if (left_[back] < backward) return static_cast<int>(step);
      left_[back] = rounded(left_[back] - backward);
    }
    left_[l] = rounded(left_[l] - forward);
  }
  return static_cast<int>(steps);
}

std::vector<int> ChannelSearch::nets_for(int gpu, std::optional<PathType> farthest) const {
  std::vector<int> found;
  const auto add = [&found](int net) {
    if (net >= 0 && std::find(found.begin(), found.end(), net) == found.end()) found.push_back(net);
  };
  const int first = gpu < 0 ? 0 : gpu, end = gpu < 0 ? gpus_ : gpu + 1;
  if (topology_.hosts > 1 && settings_.scatter_nets) {
    // If GPUs are on several hosts, first return the first port of every GPU, then the second port
    // of every GPU, and so on.
    std::vector<bool> done(gpus_);
    for (int c = 0; c < kMaxChannels; ++c) {
      for (int g = first; g < end; ++g) {
        const int net = paths_.local_net(g, c);
        if (c > 0 && net == paths_.local_net(g, 0)) done[g] = true;
        if (!done[g]) add(net);
      }
    }
  } else {
    for (int g = first; g < end; ++g) {
      for (int c = 0; c < kMaxChannels; ++c) {
        if (c > 0 && paths_.local_net(g, c) == paths_.local_net(g, 0)) break;
        add(paths_.local_net(g, c));
      }
    }
  }
  const bool bounded = settings_.net_policy == NetPolicy::kMax;
  const std::size_t most = bounded ? static_cast<std::size_t>(settings_.max_nets) *
                                         static_cast<std::size_t>(gpu < 0 ? gpus_ : 1)
                                   : topology_.nodes.size();
  if (!farthest) return found;
  for (int type = 0; type <= static_cast<int>(*farthest); ++type) {
    for (int g = first; g < end; ++g) {
      for (int n = 0; n < std::min(topology_.count(NodeKind::kNet), kMaxChannels); ++n) {
        if (found.size() >= most) return found;
        if (static_cast<int>(paths_.between(NodeKind::kGpu, g, NodeKind::kNet, n).type) == type)
          add(n);
      }
    }
  }
  return found;
}

const std::vector<int>& ChannelSearch::nets(int gpu, PathType farthest) {
  auto& known = nets_[(gpu + 1) * kDistances + static_cast<int>(farthest)];
  if (!known) known = nets_for(gpu, farthest);
  return *known;
}

}  // namespace tutti::core::nccl
