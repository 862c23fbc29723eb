// cluster_text() returns the text of a cluster file rather than a Machine, because users store the
// text in a file and edit it. NCCL's topology has nodes that a cluster file does not have. The text
// represents a network card with one port by the port, and a card with several ports by a PCIe
// switch. PCIe switches that lead neither to a GPU nor to a port are omitted. NCCL's topology has a
// separate link for each direction; the text has one link for both directions, with the lower of
// the two bandwidths. A topology has no latencies, so the text has the constants of NCCL's cost
// model, such as 0.6 us for NVLink. The rings are those that the search finds on the same topology
// (search.cpp).

#include "core/nccl/cluster_text.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/nccl/search/search.h"
#include "core/nccl/system_of_topology.h"
#include "core/text/in_quotes.h"

namespace tutti::core::nccl {

namespace {

// NCCL's hop latencies for its LL protocol. If a hop crosses two links, each link gets half of the
// latency. SOURCE: NVIDIA/nccl src/graph/tuning.cc.
constexpr double kNvlinkUs = 0.6;
constexpr double kToSwitchUs = 0.3;
constexpr double kPcieUs = 0.5;
constexpr double kCardToCardUs = 1.5;  // assumed, as for the shipped InfiniBand links

double gb_per_s(Bandwidth rate) { return static_cast<double>(rate.count()) / 1e9; }

/// Returns a range of names such as "gpu[0-7]", or "gpu0" if the range has one name.
std::string range(const char* name, int count) {
  return count == 1 ? fmt::format("{}0", name) : fmt::format("{}[0-{}]", name, count - 1);
}

std::string device_text(const std::string& names, const char* kind, const Part& like,
                        const std::string& machine) {
  const DeviceRates& rates = like.device;
  std::string text = fmt::format(
      "  device {{\n    name: {} kind: {}\n    memory_gb_per_s: {} reduce_gb_per_s: {} "
      "copy_gb_per_s: {} threads: {}\n",
      in_quotes(names), kind, gb_per_s(rates.memory), gb_per_s(rates.reduce), gb_per_s(rates.copy),
      rates.threads);
  if (like.gpu_model != GpuModel::kNone)
    text += fmt::format("    gpu_model: {}\n", to_string(like.gpu_model));
  if (like.nearest_gpu_model != GpuModel::kNone)
    text += fmt::format("    nearest_gpu_model: {}\n", to_string(like.nearest_gpu_model));
  if (like.cpu_vendor != core::CpuVendor::kNone)
    text += fmt::format("    cpu_vendor: {}\n", to_string(like.cpu_vendor));
  if (rates.memory_gb > 0) text += fmt::format("    memory_gb: {}\n", rates.memory_gb);
  if (rates.multiprocessors > 0)
    text += fmt::format("    multiprocessors: {}\n", rates.multiprocessors);
  for (const auto& [type, rate] : rates.flops_per_second) {
    std::string name(to_string(type));
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char c) { return std::toupper(c); });
    text += fmt::format("    flops {{ data_type: {} tflops: {} }}\n", name, rate / 1e12);
  }
  return text + fmt::format("    source: {}\n  }}\n",
                            in_quotes(fmt::format("assumed to be the same as {} of {}: {}",
                                                  like.name, machine, like.source)));
}

class Writer {
 public:
  explicit Writer(const Topology& topology) : topology_(topology), names_(topology.nodes.size()) {
    name_nodes();
  }

  /// Returns the text of all switches, cards and links.
  std::string parts();

 private:
  [[nodiscard]] int devices_of(const NetFacts& card) const;
  [[nodiscard]] std::string cards_per_gpu() const;
  [[nodiscard]] const TopologyNode& node(int index) const { return topology_.nodes[index]; }
  [[nodiscard]] std::string& name(int index) { return names_[index]; }
  [[nodiscard]] int ports(int card) const;
  [[nodiscard]] bool leads_to_device(int index, int from) const;
  void name_nodes();
  std::string link(const TopologyLink& link);
  std::string hosts_joined();

  const Topology& topology_;
  std::vector<std::string> names_;  ///< for each node of the topology: its name in the text; empty
                                    ///< if the text does not contain the node
};

int Writer::ports(int card) const {
  const auto& links = node(card).links;
  return static_cast<int>(std::count_if(
      links.begin(), links.end(), [this](int l) { return topology_.links[l].kind == Wire::kNet; }));
}

bool Writer::leads_to_device(int index, int from) const {
  if (node(index).kind == NodeKind::kGpu || node(index).kind == NodeKind::kNet) return true;
  if (node(index).kind == NodeKind::kCpu) return false;
  return std::any_of(node(index).links.begin(), node(index).links.end(), [&](int l) {
    const TopologyLink& link = topology_.links[l];
    const bool down = link.kind == Wire::kPci || link.kind == Wire::kNet;
    return down && link.to != from && leads_to_device(link.to, index);
  });
}

void Writer::name_nodes() {
  int switches = 0, cards = 0;
  for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
    const int index = static_cast<int>(i);
    switch (node(index).kind) {
      case NodeKind::kGpu: name(index) = fmt::format("gpu{}", node(index).gpu.rank); break;
      case NodeKind::kNvs: name(index) = "nvswitch"; break;
      case NodeKind::kPci:
        if (leads_to_device(index, -1)) name(index) = fmt::format("pcie{}", switches++);
        break;
      case NodeKind::kNic:
        // A card with one port is represented by its port, and a card with several ports by a
        // switch.
        if (ports(index) > 1) name(index) = fmt::format("card{}", cards++);
        break;
      case NodeKind::kCpu:
      case NodeKind::kNet: break;
    }
  }
  for (int c = 0; c < topology_.count(NodeKind::kCpu); ++c)
    name(topology_.all(NodeKind::kCpu)[c]) = fmt::format("cpu{}", c);
  for (int n = 0; n < topology_.count(NodeKind::kNet); ++n)
    name(topology_.all(NodeKind::kNet)[n]) = fmt::format("nic{}", n);
}

std::string Writer::link(const TopologyLink& link) {
  int from = link.from, to = link.to;
  // A card with one port is replaced by its port, which is then linked to the slot of the card.
  const auto port_of = [this](int index) {
    if (node(index).kind != NodeKind::kNic || ports(index) != 1) return index;
    for (const int l : node(index).links) {
      const TopologyLink& to_port = topology_.links[l];
      if (to_port.kind == Wire::kNet) return to_port.to;
    }
    return index;
  };
  from = port_of(from);
  to = port_of(to);
  if (from == to || name(from).empty() || name(to).empty()) return "";
  const char* kind = "PCIE";
  double us = kPcieUs;
  const char* source = "";
  switch (link.kind) {
    case Wire::kNvl:
      kind = "NVLINK";
      us = node(from).kind == NodeKind::kGpu && node(to).kind == NodeKind::kGpu ? kNvlinkUs
                                                                                : kToSwitchUs;
      break;
    case Wire::kC2c:
      kind = "NVLINK";
      source = "NVLink-C2C";
      break;
    case Wire::kSys: kind = "SOCKET"; break;
    case Wire::kLoc: source = "a link between PCIe switches; NCCL ignores its rate"; break;
    case Wire::kPci:
    case Wire::kNet: break;
  }
  const float back = topology_.links[link.back].gb_per_s;
  std::string text = fmt::format(
      "  link {{ from: \"{}\" to: \"{}\" kind: {} bandwidth_gb_per_s: {:g} latency_us: {}",
      name(from), name(to), kind, std::min(link.gb_per_s, back), us);
  if (*source != '\0') text += fmt::format(" source: \"{}\"", source);
  return text + " }\n";
}

std::string Writer::hosts_joined() {
  if (topology_.hosts < 2) return "";
  std::string text =
      "  # The hosts' CPUs have a separate network, which NCCL does not use.\n"
      "  switch { name: \"frontend\" kind: PCIE_SWITCH source: \"assumed\" }\n";
  return text + fmt::format(
                    "  link {{ from: \"{}\" to: \"frontend\" kind: SOCKET bandwidth_gb_per_s: 48 "
                    "latency_us: 5 "
                    "source: \"assumed: two ports of 400 Gb/s per host, as in gb200-nvl72\" }}\n",
                    range("cpu", topology_.count(NodeKind::kCpu)));
}

/// Returns the number of devices of which a network card consists, as far as the topology shows it.
/// NCCL joins the names of ports that it merges ("mlx5_0+mlx5_1"). aws-ofi-nccl reports one card
/// with the total rate of a GPU's EFA devices; on P5, each device has 100 Gb/s.
int Writer::devices_of(const NetFacts& card) const {
  const auto joined = 1 + std::count(card.name.begin(), card.name.end(), '+');
  constexpr float kEfaDevice = 12.5F;
  const bool efa = is_efa_with_rdma(transport_of_card(card.name));
  const bool p5 = topology_.min_sm() >= 90 && topology_.min_sm() < 100;
  const auto devices =
      efa && p5 ? std::lround(card.gb_per_s / kEfaDevice) : static_cast<long>(joined);
  return devices == 2 || devices == 4 ? static_cast<int>(devices) : 1;
}

/// Returns the line that states the number of cards for each GPU; empty if the machine file has no
/// value for this number.
std::string Writer::cards_per_gpu() const {
  const int gpus = topology_.count(NodeKind::kGpu), cards = topology_.count(NodeKind::kNet);
  const std::pair<std::pair<int, int>, const char*> known[] = {{{1, 4}, "ONE_CARD_FOR_FOUR_GPUS"},
                                                               {{1, 2}, "ONE_CARD_FOR_TWO_GPUS"},
                                                               {{1, 1}, "ONE_CARD_PER_GPU"},
                                                               {{2, 1}, "TWO_CARDS_PER_GPU"},
                                                               {{4, 1}, "FOUR_CARDS_PER_GPU"}};
  for (const auto& [ratio, name] : known) {
    if (cards > 0 && cards * ratio.second == gpus * ratio.first)
      return fmt::format("  cards_per_gpu: {}\n", name);
  }
  return "";
}

std::string Writer::parts() {
  std::string text = cards_per_gpu();
  const auto infiniband = [this](int card) { return node(card).net.name.starts_with("mlx5"); };
  const auto& cards = topology_.all(NodeKind::kNet);
  if (std::any_of(cards.begin(), cards.end(), infiniband))
    text +=
        "  # Cards named mlx5 are assumed to be InfiniBand. RoCE cards have the same name; set "
        "transport: ROCE for RoCE cards.\n";
  const auto efa = [this](int card) {
    return is_efa_with_rdma(transport_of_card(node(card).net.name));
  };
  if (topology_.min_sm() >= 90 && std::any_of(cards.begin(), cards.end(), efa))
    text +=
        "  # The generation of EFA is assumed to be the usual one of these GPUs. On P5en, set "
        "transport: EFA_V3 and devices: 2.\n";
  for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
    const int index = static_cast<int>(i);
    if (name(index).empty()) continue;
    const NodeKind kind = node(index).kind;
    if (kind == NodeKind::kPci || kind == NodeKind::kNic)
      text += fmt::format("  switch {{ name: \"{}\" kind: PCIE_SWITCH }}\n", name(index));
    if (kind == NodeKind::kNvs) {
      text += fmt::format("  switch {{ name: \"nvswitch\" kind: NVSWITCH{} }}\n",
                          topology_.min_sm() >= 90 ? " in_switch_reduction: true" : "");
    }
    if (kind == NodeKind::kNet) {
      const NetFacts& card = node(index).net;
      const int devices = devices_of(card);
      text += fmt::format(
          "  nic {{ name: \"{}\" bandwidth_gb_per_s: {:g} transport: {}{} source: {} }}\n",
          name(index), card.gb_per_s, name_in_files(transport_of_card(card.name)),
          devices > 1 ? fmt::format(" devices: {}", devices) : "", in_quotes(card.name));
    }
  }
  text += '\n';
  for (std::size_t l = 0; l < topology_.links.size(); ++l) {
    const TopologyLink& one = topology_.links[l];
    // The two directions of a link refer to each other. Write only the link with the smaller index.
    if (static_cast<int>(l) < one.back) text += link(one);
  }
  return text + hosts_joined();
}

/// Returns the text of the rings that a search found. NCCL uses each channel twice.
std::string rings_text(const Graph& ring, const char* span) {
  std::string text;
  for (std::size_t c = 0; c < ring.orders.size();) {
    std::size_t end = c;
    while (end < ring.orders.size() && ring.orders[end].gpus == ring.orders[c].gpus) ++end;
    text += fmt::format(
        "  ring {{ span: {} gpu: [{}] channels: {} source: \"found by "
        "Tutti's implementation of NCCL 2.28.9's graph search\" }}\n",
        span, fmt::join(ring.orders[c].gpus, ", "), 2 * (end - c));
    c = end;
  }
  return text;
}

}  // namespace

std::string machine_with_gpus_of(const Topology& topology) {
  const int sm = topology.min_sm();
  const bool grace = topology.count(NodeKind::kCpu) > 0 &&
                     topology.node(NodeKind::kCpu, 0).cpu.arch == CpuArch::kArm;
  switch (sm) {
    case 37: return "ec2-p2-16xlarge";
    case 60: return "dgx1-p100";
    case 70: return "dgx1-v100";
    case 75: return "ec2-g4dn-12xlarge";
    case 80: return "dgx-a100";
    case 89: return "pcie-l40s";
    case 90: return "hgx-h100";
    case 100: return grace ? "gb200-nvl72" : "dgx-b200";
    default: return "";
  }
}

Expected<std::string> cluster_text(const Topology& topology, const ClusterWords& words,
                                   const Machine& like, const SearchSettings& settings) {
  if (like.gpus().empty() || like.cpus().empty()) {
    return tl::unexpected(Error::request(
        {ProblemCode::kMissing, "Machine.device"},
        fmt::format("machine \"{}\" has no {}, whose parameters are needed for the devices",
                    like.name(), like.gpus().empty() ? "GPU" : "CPU")));
  }
  const auto part = [&like](int index) -> const Part& { return like.parts()[index]; };
  const int gpus = topology.count(NodeKind::kGpu), cpus = topology.count(NodeKind::kCpu);
  std::string text =
      fmt::format("# {} GPUs of compute capability {}.{}, from {}.\n", gpus, topology.min_sm() / 10,
                  topology.min_sm() % 10, in_quotes(words.file));
  text += fmt::format(
      "# The topology file has no rates of memory and arithmetic, so these are the rates of {}.\n",
      words.devices);
  text +=
      fmt::format("workers {{ machine: {} count: {} }}\n", in_quotes(words.machine), words.nodes);
  if (words.nodes > 1) {
    float plugin_us = 0;
    for (int n = 0; n < topology.count(NodeKind::kNet); ++n)
      plugin_us = std::max(plugin_us, topology.node(NodeKind::kNet, n).net.latency_us);
    const std::string transport =
        topology.count(NodeKind::kNet) == 0
            ? ""
            : " transport: " +
                  name_in_files(transport_of_card(topology.node(NodeKind::kNet, 0).net.name));
    if (!words.link.empty())
      text += fmt::format("network {{ kind: ONE_SWITCH link: {} }}\n", in_quotes(words.link));
    else
      text += fmt::format(
          "network {{ kind: ONE_SWITCH latency_us: {:g}{} source: \"assumed 1.5 us{}\" }}\n",
          kCardToCardUs + plugin_us, transport,
          plugin_us > 0
              ? fmt::format(", plus {:g} us, as stated by the plugin of the network cards",
                            plugin_us)
              : "");
  }
  text += fmt::format(
      "machine {{\n  name: {}\n  source: {}\n", in_quotes(words.machine),
      in_quotes(fmt::format(
          "{}; link rates: those in NCCL 2.28.9's tables (NVIDIA/nccl "
          "src/graph/topo.h, topo.cc); latencies: NCCL's hop latencies for protocol LL "
          "(src/graph/tuning.cc), half of which is assigned to each link of a hop over two links",
          words.file)));
  text += device_text(range("gpu", gpus), "GPU", part(like.gpus().front()), words.devices);
  text += device_text(range("cpu", cpus), "CPU", part(like.cpus().front()), words.devices);
  text += Writer(topology).parts();
  if (gpus > 1) {
    const auto inside = search_graphs(topology, 1, settings);
    if (!inside) return tl::unexpected(inside.error());
    if (inside->nodes_per_topology > 1) {
      text += fmt::format(
          "  # NCCL treats each machine as {} nodes and uses the default rings, because a "
          "machine's network cards are faster than the links between the machine's GPUs.\n",
          inside->nodes_per_topology);
    } else {
      text += rings_text(inside->graphs.ring, "ONE_WORKER");
      const auto across = search_graphs(topology, 2, settings);
      if (across) text += rings_text(across->graphs.ring, "SEVERAL_WORKERS");
    }
  }
  return text + "}\n";
}

}  // namespace tutti::core::nccl
