// Paths are computed in two stages. First, a breadth-first search from every GPU, CPU, port and
// NVSwitch finds the paths from all other nodes to this node. The search follows links against the
// direction of the paths. A new path therefore consists of the link in the opposite direction
// (TopologyLink::back) and the path that has already been found. Then the paths are corrected. GPUs
// without peer access are connected through a CPU. Pairs of GPUs that can communicate only over the
// network are marked. GPUs with a chip-to-chip link to their CPU count as closer to the CPU's
// ports. Ports are reached through another GPU (PXN), or through the CPU if GPUDirect is
// impossible. A correction depends on the results of earlier corrections, so the order of
// corrections is the same as in NCCL.

#include "core/nccl/topology/paths.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/nccl/topology/rates.h"

namespace tutti::core::nccl {

namespace {

PathType type_of(Wire kind) {
  switch (kind) {
    case Wire::kNvl: return PathType::kNvl;
    case Wire::kC2c: return PathType::kC2c;
    case Wire::kPci: return PathType::kPix;
    case Wire::kSys: return PathType::kSys;
    case Wire::kLoc:
    case Wire::kNet: break;  // the link between a card and its port does not count
  }
  return PathType::kLoc;
}

/// Returns the type of a path that is composed of two paths. If the first path leads over C2C to
/// the CPU and the second over PCIe, the result is a type that allows GPUDirect.
PathType joined(PathType a, PathType b) {
  const auto [near, far] = std::minmax(a, b);
  return far == PathType::kPhb && near == PathType::kC2c ? PathType::kP2c : far;
}

constexpr bool is_power_of_two(int n) { return (n & (n - 1)) == 0; }

/// Returns the bits of a number below `power` in reverse order.
int mirrored(int number, int power) {
  int mirror = 0;
  for (int bit = 1, other = power >> 1; bit < power; bit <<= 1, other >>= 1) {
    if ((number & bit) != 0) mirror |= other;
  }
  return mirror;
}

}  // namespace

Paths::Paths(const Topology& topology, const SearchSettings& settings)
    : topology_(topology), settings_(settings), paths_(topology.nodes.size()) {
  for (const NodeKind kind : {NodeKind::kCpu, NodeKind::kGpu, NodeKind::kNet, NodeKind::kNvs}) {
    for (OfKind& paths : paths_) paths[static_cast<std::size_t>(kind)].resize(topology.count(kind));
    for (int place = 0; place < topology.count(kind); ++place) find_ways_to(kind, place);
  }
  settle_gpus();
  settle_chip_to_chip();
  settle_nets();
}

void Paths::find_ways_to(NodeKind kind, int place) {
  const int base = topology_.all(kind)[place];
  to(base, kind, place) = {{}, kLocGbPerS, PathType::kLoc};
  std::vector<int> front{base}, next;
  std::vector<bool> queued(topology_.nodes.size());
  while (!front.empty()) {
    next.clear();
    queued.assign(queued.size(), false);
    for (const int n : front) {
      const TopologyNode& node = topology_.nodes[n];
      for (const int l : node.links) {
        const TopologyLink& link = topology_.links[l];
        const TopologyNode& far = topology_.nodes[link.to];
        const Path& path = to(n, kind, place);
        Path& found = to(link.to, kind, place);
        const float rate = std::min(path.gb_per_s, link.gb_per_s);
        // A GPU forwards data over NVLink to only one other GPU.
        if (n != base && node.kind == NodeKind::kGpu &&
            (!settings_.nvb || link.kind != Wire::kNvl || far.kind != NodeKind::kGpu ||
             path.links.size() > 1))
          continue;
        if ((found.gb_per_s != 0 && found.links.size() <= path.links.size()) ||
            found.gb_per_s >= rate)
          continue;
        PathType type = type_of(link.kind);
        if (node.kind == NodeKind::kPci && far.kind == NodeKind::kPci) type = PathType::kPxb;
        if (link.kind == Wire::kPci && (node.kind == NodeKind::kCpu || far.kind == NodeKind::kCpu))
          type = PathType::kPhb;
        if (node.kind == NodeKind::kGpu && path.type == PathType::kNvl && type == PathType::kNvl &&
            !path.links.empty())
          type = PathType::kNvb;
        Path made{{link.back}, rate, std::max(path.type, type)};
        made.links.insert(made.links.end(), path.links.begin(), path.links.end());
        found = std::move(made);
        if (!queued[link.to]) next.push_back(link.to);
        queued[link.to] = true;
      }
    }
    std::swap(front, next);
  }
}

void Paths::go_by(NodeKind middle_kind, int middle, int from, NodeKind kind, int place) {
  const Path& first = at(from, middle_kind, middle);
  const Path& second = at(topology_.all(middle_kind)[middle], kind, place);
  Path made = first;
  made.links.insert(made.links.end(), second.links.begin(), second.links.end());
  made.type = middle_kind == NodeKind::kGpu ? PathType::kPxn : joined(first.type, second.type);
  made.gb_per_s = std::min(first.gb_per_s, second.gb_per_s);
  to(from, kind, place) = std::move(made);
}

int Paths::local_cpu(int gpu) const {
  int nearest = -1;
  std::size_t least = 0;
  for (int c = 0; c < topology_.count(NodeKind::kCpu); ++c) {
    const std::size_t hops = at(gpu_node(gpu), NodeKind::kCpu, c).links.size();
    if (hops == 0 || (least != 0 && hops >= least)) continue;
    nearest = c;
    least = hops;
  }
  TUTTI_CHECK(nearest >= 0, "GPU {} lies below no CPU", gpu);
  return nearest;
}

int Paths::relay(int gpu, int net) const {
  // The relay is the first GPU on the path. If the path crosses an NVSwitch, the relay comes after
  // the NVSwitch.
  for (const int l : at(gpu_node(gpu), NodeKind::kNet, net).links) {
    const int node = topology_.links[l].to;
    const TopologyNode& on_the_way = topology_.nodes[node];
    if (on_the_way.kind == NodeKind::kNvs) continue;
    TUTTI_CHECK(on_the_way.kind == NodeKind::kGpu,
                "PXN from GPU {} to NET {} has no intermediate GPU", gpu, net);
    const auto& gpus = topology_.all(NodeKind::kGpu);
    return static_cast<int>(std::find(gpus.begin(), gpus.end(), node) - gpus.begin());
  }
  return gpu;
}

bool Paths::peers(int from, int to) const {
  PathType level = PathType::kPxb;
  const CpuFacts& cpu = topology_.node(NodeKind::kCpu, 0).cpu;
  if (cpu.arch == CpuArch::kX86 && cpu.vendor == CpuVendor::kAmd &&
      topology_.count(NodeKind::kGpu) <= 2)
    level = PathType::kSys;
  return at(gpu_node(from), NodeKind::kGpu, to).type <= settings_.p2p_level.value_or(level);
}

bool Paths::network_is_faster(int a, int b) const {
  if (!settings_.net_inside) return false;
  float of_a = 0, of_b = 0;
  for (int n = 0; n < topology_.count(NodeKind::kNet); ++n) {
    const Path& from_a = at(gpu_node(a), NodeKind::kNet, n);
    const Path& from_b = at(gpu_node(b), NodeKind::kNet, n);
    if (from_a.type <= PathType::kPxb) of_a = std::max(of_a, from_a.gb_per_s);
    if (from_b.type <= PathType::kPxb) of_b = std::max(of_b, from_b.gb_per_s);
  }
  const float direct = at(gpu_node(a), NodeKind::kGpu, b).gb_per_s;
  return of_a > direct && of_b > direct;
}

bool Paths::connected_inside(int from, int to) const {
  if (peers(from, to)) {
    const Path& path = at(gpu_node(from), NodeKind::kGpu, to);
    const bool by_gpu = path.links.size() == 2 &&
                        topology_.nodes[topology_.links[path.links[0]].to].kind == NodeKind::kGpu;
    if (by_gpu || !network_is_faster(from, to)) return true;
  }
  return settings_.shm && !network_is_faster(from, to) && gpu(from).host == gpu(to).host;
}

void Paths::settle_gpus() {
  const int gpus = topology_.count(NodeKind::kGpu);
  for (int g = 0; g < gpus; ++g) {
    for (int p = 0; p < gpus; ++p) {
      if (!peers(p, g)) go_by(NodeKind::kCpu, local_cpu(g), gpu_node(p), NodeKind::kGpu, g);
    }
    for (int p = 0; p < gpus; ++p) {
      if (p != g && !connected_inside(p, g))
        to(gpu_node(p), NodeKind::kGpu, g).type = PathType::kNet;
    }
  }
}

void Paths::settle_chip_to_chip() {
  const auto& nets = topology_.all(NodeKind::kNet);
  for (std::size_t n = 0; n < nets.size(); ++n) {
    for (int g = 0; g < topology_.count(NodeKind::kGpu); ++g) {
      const int c = local_cpu(g);
      const PathType whole =
          joined(at(gpu_node(g), NodeKind::kCpu, c).type, at(nets[n], NodeKind::kCpu, c).type);
      if (whole != PathType::kP2c) continue;
      PathType& out = to(gpu_node(g), NodeKind::kNet, static_cast<int>(n)).type;
      PathType& in = to(nets[n], NodeKind::kGpu, g).type;
      out = std::min(out, PathType::kP2c);
      in = std::min(in, PathType::kP2c);
    }
  }
}

bool Paths::gpu_direct(int g, int net) const {
  if (!topology_.node(NodeKind::kNet, net).net.gdr || !gpu(g).gpu.gdr) return false;
  PathType distance = at(gpu_node(g), NodeKind::kNet, net).type;
  if (distance == PathType::kPxn) distance = at(gpu_node(relay(g, net)), NodeKind::kNet, net).type;
  if (settings_.gdr_c2c && distance == PathType::kP2c) distance = PathType::kC2c;
  return distance <= settings_.gdr_level.value_or(PathType::kPxb);
}

bool Paths::settle_net(int g, int net, int local) {
  const int node = gpu_node(g), net_node = topology_.all(NodeKind::kNet)[net];
  bool changed = false;
  if (settings_.pxn && local != g && local >= 0) {
    const Path& own = at(node, NodeKind::kNet, net);
    const Path& others = at(gpu_node(local), NodeKind::kNet, net);
    const PathType level = settings_.pxn_c2c ? PathType::kP2c : PathType::kPxb;
    const bool reachable = at(gpu_node(local), NodeKind::kGpu, g).type <= PathType::kNvl &&
                           gpu(local).host == gpu(g).host;
    // Only sends are relayed (PXN): NCCL sends through the card on the receiver's rail, but
    // receives through a card near the GPU.
    if (others.type <= level && reachable &&
        (others.gb_per_s > own.gb_per_s || own.type > PathType::kPxn)) {
      go_by(NodeKind::kGpu, local, node, NodeKind::kNet, net);
      changed = true;
    }
  }
  if (at(node, NodeKind::kNet, net).type >= PathType::kPhb || gpu_direct(g, net)) return changed;
  const int cpu = local_cpu(g);
  go_by(NodeKind::kCpu, cpu, net_node, NodeKind::kGpu, g);
  go_by(NodeKind::kCpu, cpu, node, NodeKind::kNet, net);
  return true;
}

void Paths::settle_nets() {
  const auto nets_of = [this](int g) { return locals(gpu_node(g), NodeKind::kNet); };
  const auto gpus_of = [this](int n) {
    return locals(topology_.all(NodeKind::kNet)[n], NodeKind::kGpu);
  };
  const int gpus = topology_.count(NodeKind::kGpu), nets = topology_.count(NodeKind::kNet);
  for (int g = 0; g < gpus; ++g) gpu_nets_.push_back(nets_of(g));
  for (int n = 0; n < nets; ++n) net_gpus_.push_back(gpus_of(n));
  for (int n = 0; n < nets; ++n) {
    int local = settings_.pxn ? local_gpu(n) : -1;
    for (int g = 0; g < gpus; ++g) {
      if (!settle_net(g, n, local)) continue;
      // The new paths may have changed which GPU is nearest to a port.
      gpu_nets_[g] = nets_of(g);
      net_gpus_[n] = gpus_of(n);
      if (settings_.pxn) local = local_gpu(n);
    }
  }
}

Paths::Locals Paths::locals(int node, NodeKind kind) const {
  Locals found;
  float most = 0;
  for (int i = 0; i < topology_.count(kind); ++i) {
    const Path& path = at(node, kind, i);
    if (path.gb_per_s > most || (path.gb_per_s == most && path.type < found.type)) {
      most = path.gb_per_s;
      found.type = path.type;
      found.places.clear();
    }
    if (path.gb_per_s == most && path.type == found.type) found.places.push_back(i);
  }
  return found;
}

int Paths::nets_per_gpu(const std::vector<int>& nets) const {
  const int count = static_cast<int>(nets.size());
  switch (settings_.net_policy) {
    case NetPolicy::kAll: return count;
    case NetPolicy::kMax: return std::min(settings_.max_nets, count);
    case NetPolicy::kAuto: break;
  }
  const int gpus = static_cast<int>(local_gpus(nets.front()).places.size());
  return gpus == 0 ? count : (count + gpus - 1) / gpus;
}

int Paths::local_net(int g, int channel) const {
  const std::vector<int>& nets = gpu_nets_[g].places;
  if (nets.empty()) return -1;
  const int count = static_cast<int>(nets.size());
  // Reversing the bits assigns distant ports to neighbouring GPUs.
  const int dev = is_power_of_two(count) ? mirrored(gpu(g).gpu.dev, count) : gpu(g).gpu.dev;
  return nets[(dev + channel % nets_per_gpu(nets)) % count];
}

int Paths::local_gpu(int net) const {
  // After nets_per_gpu() channels, the same ports are assigned again.
  int period = 1;
  for (int c = 0; c < std::min(period, kMaxChannels); ++c) {
    for (const int g : local_gpus(net).places) {
      const std::vector<int>& nets = gpu_nets_[g].places;
      if (c == 0 && !nets.empty()) period = std::max(period, nets_per_gpu(nets));
      if (local_net(g, c) == net) return g;
    }
  }
  return -1;
}

PathType Paths::nearest(NodeKind kind) const {
  PathType least = PathType::kSys;
  for (int g = 0; g < topology_.count(NodeKind::kGpu); ++g) {
    for (int i = 0; i < topology_.count(kind); ++i) {
      if (kind != NodeKind::kGpu || i != g) least = std::min(least, at(gpu_node(g), kind, i).type);
    }
  }
  return least;
}

PathType Paths::farthest(NodeKind kind) const {
  PathType most = PathType::kLoc;
  for (int g = 0; g < topology_.count(NodeKind::kGpu); ++g) {
    for (int i = 0; i < topology_.count(kind); ++i) {
      if (kind != NodeKind::kGpu || i != g) most = std::max(most, at(gpu_node(g), kind, i).type);
    }
  }
  return most;
}

std::vector<int> Paths::domains() const {
  std::vector<int> domains;
  for (int g = 0; g < topology_.count(NodeKind::kGpu); ++g) {
    int domain = g;
    for (int p = 0; p < g; ++p) {
      if (at(gpu_node(g), NodeKind::kGpu, p).type < PathType::kNet)
        domain = std::min(domain, domains[p]);
    }
    domains.push_back(domain);
  }
  return domains;
}

}  // namespace tutti::core::nccl
