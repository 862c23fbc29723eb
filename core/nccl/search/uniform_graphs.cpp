// For each speed of a list, from fast to slow, NCCL's search adds channels of this speed until
// links are full. If all GPUs and network cards are identical, a formula gives the result. For
// example, take 8 H100 GPUs on switches (18 NVLinks of 20.6 GB/s in NCCL's tables, 370.8 GB/s
// together), and the list 60, 50, 40, 30, …. Six channels of 60 fit (360 in total), seven of 50
// (350), nine of 40 (360, not better), and twelve of 30 (360). The search stops below half of the
// best speed. The result is 6 channels of 60. If the speed is 25 or more, each channel is replaced
// by two channels of half the speed: 12 x 30. Between nodes, a channel leaves through a network
// card. With 8 cards of 50 GB/s and the list 48, 45, …, the result is 8 x
// 48. tests/core/nccl/uniform_graphs_test.cpp compares the formula with NCCL's own search.

#include "core/nccl/search/uniform_graphs.h"

#include <algorithm>
#include <span>
#include <vector>

#include "core/nccl/channels.h"
#include "core/nccl/collnet.h"
#include "core/nccl/point_to_point.h"
#include "core/nccl/search/cube_mesh.h"
#include "core/nccl/search/search.h"

namespace tutti::core::nccl {
namespace {

// SOURCE: NVIDIA/nccl src/graph/search.cc, speedArray*, at the tags given below.
constexpr float kAll[] = {42, 30, 24, 21, 18, 15,   12,   10,   9,
                          7,  6,  5,  4,  3,  2.4F, 1.2F, .24F, .12F};  // 2.8
constexpr float kInside10[] = {44, 30, 22, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr float kAcross10[] = {48, 30, 24, 22, 18, 15,   12,   10,   9,
                               7,  6,  5,  4,  3,  2.4F, 1.2F, .24F, .12F};
constexpr float kInside18[] = {40, 30, 20, 18, 15, 12, 10, 9, 7, 6, 5, 4, 3};
constexpr float kAcross18[] = {48, 30, 28, 24, 20, 18,   15,   12,   10,  9,
                               7,  6,  5,  4,  3,  2.4F, 1.2F, .24F, .12F};
constexpr float kHopperInside16[] = {66, 33, 24, 20, 15, 12, 6, 3};
constexpr float kHopperInside18[] = {60, 50, 40, 30, 24, 20, 15, 12, 11, 6, 3};
constexpr float kHopperAcross[] = {48, 45, 42, 40, 30,   24,   22,   20,  17.5F,
                                   15, 12, 6,  3,  2.4F, 1.2F, .24F, .12F};
constexpr float kBlackwellInside25[] = {90, 80, 70, 60, 50, 40, 30, 24, 20, 19, 18};
constexpr float kBlackwellInside29[] = {90, 80, 70, 60, 50, 45, 40, 30, 24, 20, 19, 18};
constexpr float kBlackwellAcross[] = {96,    48, 45, 42, 40, 30,   24,   22,   20,
                                      17.5F, 15, 12, 6,  3,  2.4F, 1.2F, .24F, .12F};

std::span<const float> speeds(int cc, bool across, Version v) {
  if (v < Version{2, 10, 0}) return kAll;
  if (cc >= 100 && v >= Version{2, 25, 0}) {
    if (across) return kBlackwellAcross;
    if (v >= Version{2, 29, 2}) return kBlackwellInside29;
    return kBlackwellInside25;
  }
  if (cc >= 90 && v >= Version{2, 16, 5}) {
    if (across) return kHopperAcross;
    if (v >= Version{2, 18, 0}) return kHopperInside18;
    return kHopperInside16;
  }
  if (v >= Version{2, 18, 0}) return across ? std::span<const float>(kAcross18) : kInside18;
  return across ? std::span<const float>(kAcross10) : kInside10;
}

/// Returns the rate in GB/s that NCCL assumes for one NVLink. SOURCE: NVIDIA/nccl src/graph/topo.h.
float nvlink(int cc, Version v) {
  if (cc < 70) return 18;
  if (v < Version{2, 10, 0}) return 21;
  if (v < Version{2, 18, 0}) return 22;
  if (cc >= 100 && v >= Version{2, 25, 0}) return v >= Version{2, 27, 5} ? 40.1F : 40.0F;
  return cc >= 90 && v >= Version{2, 20, 0} ? 20.6F : 20.0F;
}

/// Returns the rate in GB/s that NCCL assumes between two CPU sockets (for Intel: that of Skylake).
/// SOURCE: NVIDIA/nccl src/graph/topo.h.
float socket(HostCpu cpu, Version v) {
  if (cpu == HostCpu::kAmd && v >= Version{2, 19, 0}) return 16;
  return v >= Version{2, 18, 0} ? 10 : 9;
}

class Counting {
 public:
  Counting(const System& system, Version version) : s_(system), version_(version) {
    cc_ = system.compute_capability;
    per_gpu_ = static_cast<float>(system.nvlinks) * nvlink(cc_, version);
    list_ = speeds(cc_, system.nodes > 1, version);
  }

  Graphs all() {
    Graphs graphs;
    Graph& ring = graphs.ring;
    ring.id = 0;
    ring.pattern = Pattern::kRing;
    s_.nodes > 1 ? across(ring) : inside(ring);
    if (ring.channels == 0) return graphs;
    graphs.tree = tree(ring);
    if (s_.inside == Inside::kNvswitch && s_.switch_multicasts && cc_ >= 90 && s_.gpus > 1 &&
        version_ >= Version{2, 17, 0})
      graphs.nvls = nvls();
    graphs.collnet_chain = collnet_chain(graphs);
    graphs.collnet_direct = collnet_direct(graphs.collnet_chain);
    if (s_.nodes > 1) report_latency(graphs);
    return graphs;
  }

 private:
  /// Sets the latency that the network cards report.
  void report_latency(Graphs& graphs) const {
    for (Graph* graph : {&graphs.ring, &graphs.tree, &graphs.collnet_chain, &graphs.collnet_direct,
                         &graphs.nvls}) {
      if (graph->channels > 0) graph->latency_inter = static_cast<float>(s_.card_latency_us);
    }
  }

  /// Returns the fastest speed in the list that does not exceed `most`; 0 if there is none.
  [[nodiscard]] float fastest_up_to(float most) const {
    for (const float speed : list_) {
      if (speed <= most) return speed;
    }
    return 0;
  }

  [[nodiscard]] PathType type_inside() const {
    if (s_.gpus == 1) return PathType::kLoc;
    return s_.inside == Inside::kPcie ? PathType::kSys : PathType::kNvl;
  }

  /// Returns the number of channels with this speed for which the links inside a node have enough
  /// bandwidth.
  [[nodiscard]] int fit(float speed) const {
    if (s_.inside == Inside::kPcie)
      return speed <= std::min(static_cast<float>(s_.pcie_gb_per_s), socket(s_.cpu, version_)) ? 1
                                                                                               : 0;
    // In a cube mesh of 8 GPUs, every ring crosses at least one pair of GPUs that has only one
    // link.
    if (s_.inside == Inside::kCubeMesh)
      return 3 * static_cast<int>(2 * nvlink(cc_, version_) / speed);
    const int others = s_.gpus - 1;
    if (s_.inside == Inside::kNvswitch) return static_cast<int>(per_gpu_ / speed);
    // All rings together use the links between each pair of GPUs equally often.
    const float pair = per_gpu_ / static_cast<float>(s_.pairs_of_machine());
    const int times = static_cast<int>(pair / speed);
    return s_.gpus == 4 && times == 1 ? 2 : times * others;
  }

  void inside(Graph& ring) const {
    ring.type_intra = type_inside();
    ring.type_inter = PathType::kPix;
    for (const float speed : list_) {
      if (ring.channels > 0 && speed <= .49F * ring.bw_intra) break;
      const int channels = std::min(32, fit(speed));
      if (static_cast<float>(channels) * speed <= static_cast<float>(ring.channels) * ring.bw_intra)
        continue;
      ring.channels = channels;
      ring.bw_intra = ring.bw_inter = speed;
      if (s_.inside != Inside::kPcie && static_cast<float>(channels) * speed >= per_gpu_) break;
    }
    ring.same_channels = s_.inside != Inside::kPairs && s_.inside != Inside::kCubeMesh;
    double_channels(ring);
  }

  void across(Graph& ring) const {
    ring.type_intra = type_inside();
    ring.type_inter = s_.grace ? PathType::kP2c : PathType::kPix;
    ring.channels = std::clamp(s_.nics, 1, 32);
    float most = static_cast<float>(std::min(s_.nic_gb_per_s, s_.pcie_gb_per_s));
    if (s_.inside == Inside::kPcie) most = std::min(most, socket(s_.cpu, version_));
    if (on_nvlink()) most = std::min(most, chain_share(ring.channels));
    ring.bw_intra = ring.bw_inter = fastest_up_to(most);
    ring.same_channels = s_.gpus == 1;
    double_channels(ring);
    if (ring.bw_inter == 0) ring.channels = 0;
  }

  [[nodiscard]] bool on_nvlink() const { return s_.gpus > 1 && s_.inside != Inside::kPcie; }

  /// Returns the bandwidth of one chain if a chain starts at each GPU and passes all GPUs once. No
  /// chain returns to its first GPU.
  [[nodiscard]] float chain_share(int channels) const {
    const auto n = static_cast<float>(s_.gpus);
    return per_gpu_ * n / (n - 1) / static_cast<float>(channels);
  }

  void double_channels(Graph& graph) const {
    const bool enough = cc_ > 80 && graph.bw_intra < 50.0F && graph.channels > 4;
    if (graph.bw_intra < 25.0F || enough || graph.channels * 2 > 32) return;
    graph.channels *= 2;
    graph.bw_intra /= 2;
    graph.bw_inter /= 2;
  }

  [[nodiscard]] Graph tree(const Graph& ring) const {
    Graph tree = ring;
    tree.id = 1;
    const bool alone = s_.gpus == 1;
    const bool rails =
        cc_ >= 90 && !s_.grace;  // each GPU has a card, shared by the way up and the way down
    tree.pattern = s_.nodes > 1 && (alone || rails) ? Pattern::kTree : Pattern::kBalancedTree;
    if (s_.inside == Inside::kPcie) return tree;
    if (s_.nodes == 1) {
      const bool two = s_.gpus == 2;
      tree.bw_intra =
          std::max(fastest_up_to((two ? 2 : 1) * per_gpu_ / static_cast<float>(ring.channels)),
                   ring.bw_intra * (two ? 2.0F : 0.5F));
      if (s_.inside == Inside::kCubeMesh) tree.bw_intra = ring.bw_intra;
      tree.bw_inter = tree.bw_intra;
      tree.same_channels = !two && ring.same_channels;
      return tree;
    }
    float most = 2 * ring.bw_inter;
    if (s_.inside == Inside::kCubeMesh) most = std::min(most, nvlink(cc_, version_));
    if (on_nvlink()) most = std::min(most, chain_share(ring.channels));
    tree.bw_intra = std::max(ring.bw_inter, fastest_up_to(most));
    return tree;
  }

  /// Returns the graph of CollNetChain, which has as many chains as there are rings. One GPU of
  /// each chain sends to the network and receives from it.
  [[nodiscard]] Graph collnet_chain(const Graphs& graphs) const {
    Graph chain = graphs.tree;
    chain.id = 2;
    chain.pattern = Pattern::kTree;
    if (cc_ >= 80 || s_.nodes == 1) return chain;
    // Before Ampere, GPUs read incoming data; their read requests use an eighth of the rate in the
    // opposite direction. In the graph of CollNetChain, the same card sends and receives.
    chain.bw_inter = fastest_up_to(std::min(graphs.ring.bw_inter, card_and_eighth()));
    chain.bw_intra =
        std::min(chain.bw_intra, std::max(chain.bw_inter, fastest_up_to(2 * chain.bw_inter)));
    return chain;
  }

  /// Returns the graph of CollNetDirect, which has one channel for each GPU with a network card, up
  /// to eight channels.
  [[nodiscard]] Graph collnet_direct(const Graph& chain) const {
    Graph direct = chain;
    direct.id = 4;
    if (s_.nodes == 1) return direct;
    direct.pattern = s_.gpus > 1 ? Pattern::kCollnetDirect : Pattern::kTree;
    direct.channels = std::clamp(std::min(s_.nics, s_.gpus), 1, 8);
    direct.bw_inter =
        fastest_up_to(cc_ < 80 ? card_and_eighth()
                               : static_cast<float>(std::min(s_.nic_gb_per_s, s_.pcie_gb_per_s)));
    direct.bw_intra = std::max(direct.bw_inter, fastest_up_to(2 * direct.bw_inter));
    return direct;
  }

  [[nodiscard]] float card_and_eighth() const {
    return static_cast<float>(std::min(s_.nic_gb_per_s, s_.pcie_gb_per_s)) * 8 / 9;
  }

  /// Returns the graph of NVLS, which has one channel per head. A head reads from all GPUs and
  /// writes to all GPUs, so its own links transfer the data twice.
  [[nodiscard]] Graph nvls() const {
    Graph nvls;
    nvls.id = 3;
    nvls.pattern = Pattern::kNvls;
    nvls.type_intra = PathType::kNvl;
    nvls.type_inter = s_.grace && s_.nodes > 1 ? PathType::kP2c : PathType::kPix;
    nvls.channels = std::min(s_.gpus, 32);
    nvls.bw_intra = fastest_up_to(per_gpu_ / static_cast<float>(nvls.channels + 1));
    const float most = s_.nodes > 1
                           ? static_cast<float>(std::min(s_.nic_gb_per_s, s_.pcie_gb_per_s))
                           : 2 * nvls.bw_intra;
    nvls.bw_inter = fastest_up_to(most);
    if (s_.nodes > 1) nvls.bw_intra = std::min(nvls.bw_intra, std::max(nvls.bw_inter, 48.0F));
    return nvls;
  }

  const System& s_;
  Version version_;
  int cc_ = 0;
  float per_gpu_ = 0;
  std::span<const float> list_;
};

}  // namespace

Expected<Communicator> uniform_communicator(const System& system, Version version,
                                            const Settings& settings) {
  const auto wrong = [](ProblemCode code, const std::string& text) {
    return tl::make_unexpected(Error::request({code}, text));
  };
  const bool part_of_mesh = system.inside == Inside::kCubeMesh && system.gpus != 8;
  if (part_of_mesh && (system.nodes > 1 || system.gpus > 8))
    return wrong(
        ProblemCode::kUnsupported,
        "NCCL's rings are unknown for a part of a cube mesh on several nodes, because they "
        "depend on where the network cards are attached");
  if (system.nodes > 1 && system.nics == 0)
    return wrong(ProblemCode::kMissing,
                 "several nodes need network cards, but the nodes have none");
  Communicator comm;
  comm.version = version;
  comm.ranks = system.ranks();
  comm.nodes = system.nodes;
  comm.compute_capability = comm.max_compute_capability = system.compute_capability;
  comm.cpu = system.cpu;
  comm.nvswitch = system.inside == Inside::kNvswitch;
  if (part_of_mesh) {
    const auto found = search_graphs(cube_mesh(system.gpus), 1);
    if (!found) return tl::make_unexpected(found.error());
    comm.graphs = found->graphs;
  } else {
    comm.graphs = Counting(system, version).all();
  }
  comm.collnet = system.collnet && collnet_is_on(comm, settings);
  comm.collnet_heads = comm.graphs.collnet_direct.channels;
  comm.collnet_narrow = sharp_adds_narrow_types(system.nic_gb_per_s);
  if (comm.ranks > 1 && comm.graphs.ring.channels == 0)
    return wrong(ProblemCode::kTooSmall, "the links are too slow for even one channel of NCCL");
  comm.nvls = comm.graphs.nvls.channels > 0 && settings.nvls.value_or(true);
  count_channels(comm, settings);
  comm.p2p = point_to_point(system, settings, comm.channels, version);
  return comm;
}

}  // namespace tutti::core::nccl
