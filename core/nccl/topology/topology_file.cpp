// NCCL's XML describes a PCIe tree below each CPU. A topology file is read in two passes, because
// an NVLink may refer to an element that comes later in the file. The first pass adds all nodes and
// PCIe links, from the CPUs down. The second pass adds NVLinks, chip-to-chip links and links
// between PCIe switches. Nodes and links must be in NCCL's order, because NCCL's search depends on
// the order. One node of the topology represents all NVSwitches of all hosts. In ambiguous cases,
// the reader does the same as NCCL. The reader adds a note if NCCL's behaviour may surprise the
// user, for example if an unknown PCIe speed counts as generation 3. topology_builder.h contains
// the rules for adding links, and paths.cpp computes the paths between nodes.

#include "core/nccl/topology/topology_file.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/base/file.h"
#include "core/nccl/topology/rates.h"
#include "core/nccl/topology/topology_builder.h"
#include "core/nccl/topology/xml_text.h"

namespace tutti::core::nccl {

namespace {

constexpr int kMaxNodes = 576;  // per kind: NCCL_TOPO_MAX_NODES
constexpr std::int64_t kMaxIndex = 1 << 20;

/// Returns the kind of node for a PCI class, either of an element or of the far end of an NVLink.
NodeKind kind_of_class(std::string_view pci_class) {
  if (pci_class.starts_with("0x068000")) return NodeKind::kNvs;
  if (pci_class.starts_with("0x068001")) return NodeKind::kCpu;
  if (pci_class.starts_with("0x03")) return NodeKind::kGpu;
  if (pci_class.starts_with("0x02")) return NodeKind::kNic;
  return NodeKind::kPci;
}

CpuArch arch_of(std::string_view name) {
  if (name.starts_with("x86_64")) return CpuArch::kX86;
  if (name.starts_with("arm64")) return CpuArch::kArm;
  return name.starts_with("ppc64") ? CpuArch::kPower : CpuArch::kOther;
}

CpuVendor vendor_of(std::string_view name) {
  if (name.starts_with("GenuineIntel")) return CpuVendor::kIntel;
  if (name.starts_with("AuthenticAMD")) return CpuVendor::kAmd;
  const bool zhaoxin = name.starts_with("CentaurHauls") || name.starts_with("  Shanghai  ");
  return zhaoxin ? CpuVendor::kZhaoxin : CpuVendor::kOther;
}

/// Returns 16 bits of an identifier such as "0x1000"; 0 if there is none.
std::uint64_t identifier(const pugi::xml_node& pci, const char* attribute) {
  return pci.attribute(attribute).as_ullong() & 0xffff;
}

class TopologyReader {
 public:
  TopologyReader(const XmlText& xml, Problems& problems) : xml_(xml), problems_(problems) {}

  Topology read();

 private:
  struct NodeLocation {
    int node = 0;
    int host = 0;
  };
  /// An element whose links are added in the second pass, when all nodes exist.
  struct Later {
    int node = 0;
    pugi::xml_node element;
  };

  void read_cpu(const pugi::xml_node& cpu);
  void read_pci(const pugi::xml_node& pci, const NodeLocation& parent);
  void read_switch(const pugi::xml_node& pci, int node, int host);
  std::optional<TopologyNode> read_gpu(const pugi::xml_node& pci, const pugi::xml_node& gpu);
  void read_card(const pugi::xml_node& nic, int node);
  void read_port(const pugi::xml_node& net, int card);
  void add_nvlinks(const Later& gpu);
  void add_chip_to_chip(const Later& gpu);
  void add_peer_switches(const Later& pci);
  void number_ranks(Topology& topology);

  int host_of(const pugi::xml_node& cpu);
  int add(TopologyNode node, const pugi::xml_node& element);
  std::optional<std::uint64_t> bus(const pugi::xml_node& element, const char* attribute);

  const XmlText& xml_;
  Problems& problems_;
  TopologyBuilder made_;
  std::vector<Problem> notes_;
  std::vector<std::uint64_t> hosts_;  ///< hash of each host
  std::vector<Later> gpus_, switches_;
  bool ranks_given_ = true;
};

int TopologyReader::host_of(const pugi::xml_node& cpu) {
  const std::uint64_t hash = std::strtoull(cpu.attribute("host_hash").value(), nullptr, 16);
  const auto known = std::find(hosts_.begin(), hosts_.end(), hash);
  const int host = static_cast<int>(known - hosts_.begin());
  if (known == hosts_.end()) hosts_.push_back(hash);
  return host;
}

int TopologyReader::add(TopologyNode node, const pugi::xml_node& element) {
  if (made_.count(node.kind) == kMaxNodes)
    problems_.add({ProblemCode::kTooLarge, element.name()}, xml_.where(element),
                  "more than {} nodes of kind {}, which is NCCL's limit", kMaxNodes,
                  to_string(node.kind));
  return made_.add(std::move(node));
}

std::optional<std::uint64_t> TopologyReader::bus(const pugi::xml_node& element,
                                                 const char* attribute) {
  const auto written = xml_.text(element, attribute, problems_);
  if (!written) return std::nullopt;
  const auto number = bus_number(*written);
  if (!number)
    problems_.add({ProblemCode::kWrongType, fmt::format("{}.{}", element.name(), attribute)},
                  xml_.where(element), "<{} {}=\"{}\">: expected a bus id such as 0000:07:00.0",
                  element.name(), attribute, *written);
  return number;
}

std::optional<TopologyNode> TopologyReader::read_gpu(const pugi::xml_node& pci,
                                                     const pugi::xml_node& gpu) {
  const std::size_t before = problems_.size();
  TopologyNode node;
  node.kind = NodeKind::kGpu;
  const auto id = bus(pci, "busid");
  const auto sm = xml_.integer(gpu, "sm", 10, 9999, problems_);
  const auto dev = xml_.integer(gpu, "dev", 0, kMaxIndex, problems_);
  const auto rank =
      ranks_given_ ? xml_.integer(gpu, "rank", 0, std::int64_t{1} << 30, problems_) : dev;
  const auto gdr = xml_.integer(gpu, "gdr", 0, 1, 0, problems_);
  if (problems_.size() != before) return std::nullopt;
  node.local_id = *id;
  node.gpu = {static_cast<int>(*rank), static_cast<int>(*dev), static_cast<int>(*sm), *gdr == 1};
  return node;
}

void TopologyReader::read_port(const pugi::xml_node& net, int card) {
  const std::size_t before = problems_.size();
  const auto dev = xml_.integer(net, "dev", 0, kMaxIndex, problems_);
  const auto mbps = xml_.integer(net, "speed", -1, 100'000'000, 0, problems_);
  const auto latency = xml_.real(net, "latency", 0, 1e6F, 0.0F, problems_);
  const auto port = xml_.integer(net, "port", -1, 1 << 20, 0, problems_);
  const auto gdr = xml_.integer(net, "gdr", 0, 1, 0, problems_);
  const auto collectives = xml_.integer(net, "coll", 0, 1, 0, problems_);
  if (problems_.size() != before) return;
  const int host = made_.node(card).host;
  if (made_.find(NodeKind::kNet, host, static_cast<std::uint64_t>(*dev)) >= 0) {
    problems_.add({ProblemCode::kDuplicate, "net.dev"}, xml_.where(net),
                  "<net dev=\"{}\"> is listed twice", *dev);
    return;
  }
  TopologyNode node;
  node.kind = NodeKind::kNet;
  node.host = host;
  node.local_id = static_cast<std::uint64_t>(*dev);
  node.net.name = net.attribute("name").value();
  node.net.dev = static_cast<int>(*dev);
  const pugi::xml_attribute guid = net.attribute("guid");
  node.net.asic =
      guid ? std::strtoull(guid.value(), nullptr, 16) : static_cast<std::uint64_t>(node.id());
  node.net.port = static_cast<int>(*port);
  node.net.gb_per_s =
      static_cast<float>((*mbps <= 0 ? 10'000 : static_cast<double>(*mbps)) / 8000.0);
  node.net.latency_us = *latency;
  node.net.gdr = *gdr == 1;
  node.net.collectives = *collectives == 1;
  const float rate = node.net.gb_per_s;
  made_.join_both_ways(card, add(std::move(node), net), Wire::kNet, rate);
}

void TopologyReader::read_card(const pugi::xml_node& nic, int node) {
  for (const pugi::xml_node& net : nic.children("net")) {
    if (net.attribute("dev")) read_port(net, node);
  }
}

void TopologyReader::read_switch(const pugi::xml_node& pci, int node, int host) {
  switches_.push_back({node, pci});
  for (const pugi::xml_node& child : pci.children("pci")) read_pci(child, {node, host});
}

void TopologyReader::read_pci(const pugi::xml_node& pci, const NodeLocation& parent) {
  const pugi::xml_node gpu = pci.child("gpu"), nic = pci.child("nic");
  const auto id = bus(pci, "busid");
  const auto lanes = xml_.integer(pci, "link_width", 0, 64, 0, problems_);
  if (!id || !lanes) return;
  TopologyNode made;
  made.local_id = *id;
  if (gpu) {
    if (ranks_given_ && !gpu.attribute("rank")) return;
    const auto read = read_gpu(pci, gpu);
    if (!read) return;
    made = *read;
  } else if (nic) {
    made.kind = NodeKind::kNic;
  } else {
    made.kind = kind_of_class(pci.attribute("class").value());
    if (made.kind != NodeKind::kPci) return;
    made.pci_device = identifier(pci, "vendor") << 48 | identifier(pci, "device") << 32 |
                      identifier(pci, "subsystem_vendor") << 16 |
                      identifier(pci, "subsystem_device");
  }
  made.host = parent.host;
  int node = made_.find(made.kind, made.host, made.local_id);
  const bool known = node >= 0;
  if (known && made.kind != NodeKind::kNic) {
    problems_.add({ProblemCode::kDuplicate, "pci.busid"}, xml_.where(pci),
                  "<pci busid=\"{}\"> is listed twice", pci.attribute("busid").value());
    return;
  }
  if (!known) node = add(made, pci);
  if (made.kind == NodeKind::kGpu) gpus_.push_back({node, gpu});
  if (made.kind == NodeKind::kNic) read_card(nic, node);
  if (made.kind == NodeKind::kPci) read_switch(pci, node, parent.host);
  if (known) return;  // the second port of a card
  const std::string speed = pci.attribute("link_speed").value();
  if (!is_pcie_speed(speed))
    notes_.push_back(
        {xml_.where(pci),
         fmt::format("<pci link_speed=\"{}\">: NCCL does not know this speed and assumes PCIe "
                     "generation 3; a known speed is, for example, \"16.0 GT/s PCIe\"",
                     speed),
         {ProblemCode::kUnknownName, "pci.link_speed"}});
  made_.join_both_ways(node, parent.node, Wire::kPci,
                       pcie_gb_per_s(speed, static_cast<int>(*lanes)));
}

void TopologyReader::read_cpu(const pugi::xml_node& cpu) {
  const auto numa = xml_.integer(cpu, "numaid", -1, 1 << 16, problems_);
  if (!numa) return;
  TopologyNode node;
  node.kind = NodeKind::kCpu;
  node.host = host_of(cpu);
  node.local_id = static_cast<std::uint64_t>(*numa);
  if (made_.find(node.kind, node.host, node.local_id) >= 0) {
    problems_.add({ProblemCode::kDuplicate, "cpu.numaid"}, xml_.where(cpu),
                  "<cpu numaid=\"{}\"> is listed twice", *numa);
    return;
  }
  node.cpu.arch = arch_of(cpu.attribute("arch").value());
  if (node.cpu.arch == CpuArch::kX86) {
    node.cpu.vendor = vendor_of(cpu.attribute("vendor").value());
    const bool distinguished =
        node.cpu.vendor == CpuVendor::kIntel || node.cpu.vendor == CpuVendor::kZhaoxin;
    const auto number = [&](const char* name) {
      return distinguished ? xml_.integer(cpu, name, 0, 1 << 20, problems_)
                           : xml_.integer(cpu, name, 0, 1 << 20, 0, problems_);
    };
    node.cpu.family = static_cast<int>(number("familyid").value_or(0));
    node.cpu.model = static_cast<int>(number("modelid").value_or(0));
  }
  const int host = node.host;
  const int made = add(std::move(node), cpu);
  for (const pugi::xml_node& child : cpu.children()) {
    if (std::string_view(child.name()) == "pci") read_pci(child, {made, host});
    if (std::string_view(child.name()) != "nic") continue;
    // The element is a virtual card. NCCL uses one virtual card per host, at the first of the
    // host's CPUs that has one.
    int nic = made_.find(NodeKind::kNic, host, 0);
    if (nic < 0) {
      TopologyNode card;
      card.kind = NodeKind::kNic;
      card.host = host;
      nic = add(std::move(card), child);
      made_.join_both_ways(made, nic, Wire::kPci, kLocGbPerS);
    }
    read_card(child, nic);
  }
}

void TopologyReader::add_nvlinks(const Later& gpu) {
  for (const pugi::xml_node& link : gpu.element.children("nvlink")) {
    const auto count = xml_.integer(link, "count", 1, 1024, problems_);
    const auto pci_class = xml_.text(link, "tclass", problems_);
    if (!count || !pci_class) continue;
    const float rate = static_cast<float>(*count) * nvlink_gb_per_s(made_.node(gpu.node).gpu.sm);
    int far = -1;
    switch (kind_of_class(*pci_class)) {
      case NodeKind::kGpu: {
        // Add only one direction here, because the element at the other end lists the other
        // direction.
        const auto target = bus(link, "target");
        if (target) far = made_.find(NodeKind::kGpu, made_.node(gpu.node).host, *target);
        // An NVLink from a GPU to itself is a bridge whose other end belongs to another virtual
        // machine. NCCL counts this link, but no path uses it.
        if (far == gpu.node)
          notes_.push_back({xml_.where(link),
                            "an NVLink from a GPU to itself; a virtual machine shows such a link "
                            "if the link leads to a GPU of another virtual machine",
                            {ProblemCode::kUnused, "nvlink.target"}});
        if (far >= 0) made_.join(gpu.node, far, Wire::kNvl, rate);
        break;
      }
      case NodeKind::kCpu:
        if ((far = made_.cpu_of(gpu.node)) >= 0)
          made_.join_both_ways(gpu.node, far, Wire::kNvl, rate);
        break;
      default: {
        // One node represents all NVSwitches of all hosts.
        TopologyNode node;
        node.kind = NodeKind::kNvs;
        if ((far = made_.find(NodeKind::kNvs, 0, 0)) < 0) far = add(std::move(node), link);
        made_.join_both_ways(gpu.node, far, Wire::kNvl, rate);
      }
    }
  }
}

void TopologyReader::add_chip_to_chip(const Later& gpu) {
  for (const pugi::xml_node& link : gpu.element.children("c2c")) {
    const auto count = xml_.integer(link, "count", 1, 1024, problems_);
    const auto mb_per_s = xml_.integer(link, "bw", 1, 1'000'000, problems_);
    const int cpu = made_.cpu_of(gpu.node);
    if (!count || !mb_per_s || cpu < 0) continue;
    made_.join_both_ways(gpu.node, cpu, Wire::kC2c,
                         static_cast<float>(static_cast<double>(*mb_per_s * *count) / 1000));
  }
}

void TopologyReader::add_peer_switches(const Later& pci) {
  for (const pugi::xml_node& link : pci.element.children("pcilink")) {
    const auto target = bus(link, "target");
    if (!target) continue;
    const int far = made_.find(NodeKind::kPci, made_.node(pci.node).host, *target);
    if (far >= 0 && far != pci.node) made_.join(pci.node, far, Wire::kLoc, kLocGbPerS);
  }
}

void TopologyReader::number_ranks(Topology& topology) {
  // In a file that was combined from the files of several trays, ranks may begin at 0 in each tray.
  std::set<int> ranks;
  std::set<std::pair<int, int>> devices;
  bool of_all_hosts = true;
  for (const int g : topology.all(NodeKind::kGpu)) {
    const TopologyNode& node = topology.nodes[g];
    of_all_hosts = ranks.insert(node.gpu.rank).second && of_all_hosts;
    if (ranks_given_ && !devices.emplace(node.host, node.gpu.dev).second)
      problems_.add({ProblemCode::kDuplicate, "gpu.dev"}, xml_.where(xml_.root()),
                    "two GPUs of one host have the same number dev=\"{}\"", node.gpu.dev);
  }
  const auto key = [&](int g) {
    const TopologyNode& node = topology.nodes[g];
    return std::pair(of_all_hosts ? 0 : node.host, node.gpu.rank);
  };
  std::map<std::pair<int, int>, int> places;
  for (const int g : topology.all(NodeKind::kGpu)) {
    if (!places.emplace(key(g), 0).second)
      problems_.add({ProblemCode::kDuplicate, ranks_given_ ? "gpu.rank" : "gpu.dev"},
                    xml_.where(xml_.root()), "two GPUs have {} {}", ranks_given_ ? "rank" : "dev",
                    key(g).second);
  }
  int next = 0;
  for (auto& [rank, place] : places) place = next++;
  for (const int g : topology.all(NodeKind::kGpu)) topology.nodes[g].gpu.rank = places[key(g)];
}

Topology TopologyReader::read() {
  const auto any = [this](const char* attribute) {
    return static_cast<bool>(xml_.root().find_node([attribute](const pugi::xml_node& n) {
      return std::string_view(n.name()) == "gpu" &&
             (attribute == nullptr || n.attribute(attribute));
    }));
  };
  if (!any(nullptr)) {
    problems_.add(
        {ProblemCode::kMissing, "gpu"}, xml_.where(xml_.root()),
        "the file has no <gpu>: topology files of cloud providers list only the switches, and NCCL "
        "adds the rest at run time; use the file that NCCL_TOPO_DUMP_FILE writes");
    return {};
  }
  ranks_given_ = any("rank");
  for (const pugi::xml_node& cpu : xml_.root().children("cpu")) read_cpu(cpu);
  for (const Later& gpu : gpus_) add_nvlinks(gpu);
  for (const Later& gpu : gpus_) add_chip_to_chip(gpu);
  for (const Later& pci : switches_) add_peer_switches(pci);
  if (gpus_.empty() && problems_.empty())
    problems_.add({ProblemCode::kMissing, "cpu"}, xml_.where(xml_.root()),
                  "the file has no <gpu> below a <cpu>");
  if (!problems_.empty()) return {};
  made_.flatten_broadcom_switches();
  made_.join_cpus();
  made_.sort_links();
  Topology topology = made_.finish([this](const TopologyNode& from, const TopologyNode& to) {
    problems_.add({ProblemCode::kMissing, "nvlink"}, xml_.where(xml_.root()),
                  "{} {:x} has a link to {} {:x}, but not vice versa", to_string(from.kind),
                  from.local_id, to_string(to.kind), to.local_id);
  });
  topology.notes = std::move(notes_);
  number_ranks(topology);
  return topology;
}

}  // namespace

Expected<Topology> read_topology(std::string_view text, const std::string& file) {
  const auto xml = XmlText::parse(text, file, "system");
  if (!xml) return tl::unexpected(xml.error());
  Problems problems;
  Topology topology = TopologyReader(*xml, problems).read();
  if (!problems.empty()) return problems.take();
  return topology;
}

Expected<Topology> load_topology(const std::string& path) {
  const auto text = read_text_file(path, TextSource::kAnything);
  if (!text) return tl::unexpected(text.error());
  return read_topology(*text, path);
}

}  // namespace tutti::core::nccl
