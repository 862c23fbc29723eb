#include "core/nccl/topology/topology_of_machine.h"

#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/nccl/topology/rates.h"
#include "core/nccl/topology/topology_builder.h"

namespace tutti::core::nccl {
namespace {

CpuFacts facts_of(HostCpu cpu) {
  switch (cpu) {
    case HostCpu::kArm: return {.arch = CpuArch::kArm};
    case HostCpu::kPower: return {.arch = CpuArch::kPower};
    case HostCpu::kAmd: return {.arch = CpuArch::kX86, .vendor = CpuVendor::kAmd};
    case HostCpu::kZhaoxin: return {.arch = CpuArch::kX86, .vendor = CpuVendor::kZhaoxin};
    case HostCpu::kIntel:
    case HostCpu::kMixed: break;
  }
  return {.arch = CpuArch::kX86, .vendor = CpuVendor::kIntel};
}

NodeKind kind_of(PartKind kind) {
  switch (kind) {
    case PartKind::kGpu: return NodeKind::kGpu;
    case PartKind::kCpu: return NodeKind::kCpu;
    case PartKind::kPcieSwitch: return NodeKind::kPci;
    case PartKind::kNvswitch: return NodeKind::kNvs;
    case PartKind::kNic: return NodeKind::kNic;
  }
  return NodeKind::kPci;
}

class Drawing {
 public:
  Drawing(const Machine& machine, const System& system) : machine_(machine), system_(system) {}

  Topology draw() {
    for (const Part& part : machine_.parts()) places_.push_back(place(part));
    for (const MachineLink& link : machine_.links()) join(link);
    made_.sort_links();
    return made_.finish([](const TopologyNode&, const TopologyNode&) {});
  }

 private:
  int place(const Part& part) {
    TopologyNode node;
    node.kind = kind_of(part.kind);
    // One node represents all NVSwitches.
    if (node.kind == NodeKind::kNvs && switch_ >= 0) return switch_;
    if (node.kind != NodeKind::kNvs)
      node.local_id = static_cast<std::uint64_t>(made_.count(node.kind)) + 1;
    if (node.kind == NodeKind::kGpu) {
      const int index = made_.count(NodeKind::kGpu);
      node.gpu = {.rank = index, .dev = index, .sm = system_.compute_capability, .gdr = true};
    }
    if (node.kind == NodeKind::kCpu) node.cpu = facts_of(system_.cpu);
    const NodeKind kind = node.kind;
    const std::uint64_t id = node.local_id;
    const int placed = made_.add(std::move(node));
    if (kind == NodeKind::kNvs) switch_ = placed;
    if (kind == NodeKind::kNic) add_port(placed, id, part);
    return placed;
  }

  void add_port(int card, std::uint64_t id, const Part& part) {
    TopologyNode port;
    port.kind = NodeKind::kNet;
    port.local_id = id - 1;
    port.net.name = part.name;
    port.net.dev = static_cast<int>(id) - 1;
    port.net.asic = id;
    port.net.port = 1;
    port.net.gb_per_s = static_cast<float>(static_cast<double>(part.nic.count()) / 1e9);
    port.net.latency_us = static_cast<float>(system_.card_latency_us);
    port.net.gdr = system_.gpudirect;
    port.net.collectives = system_.collnet;
    const float rate = port.net.gb_per_s;
    made_.join_both_ways(card, made_.add(std::move(port)), Wire::kNet, rate);
  }

  void join(const MachineLink& link) {
    const auto kind = [&](int part) { return machine_.parts()[part].kind; };
    const bool to_cpu = kind(link.from) == PartKind::kCpu || kind(link.to) == PartKind::kCpu;
    Wire wire = Wire::kPci;
    switch (link.kind) {
      case LinkKind::kNvlink: wire = to_cpu ? Wire::kC2c : Wire::kNvl; break;
      case LinkKind::kPcie: break;
      case LinkKind::kSocket: wire = Wire::kSys; break;
      case LinkKind::kNetwork: return;
    }
    made_.join(places_[link.from], places_[link.to], wire,
               static_cast<float>(to_gb_per_s(link.bandwidth)));
  }

  const Machine& machine_;
  const System& system_;
  TopologyBuilder made_;
  std::vector<int> places_;  ///< for each part of the machine: its node in the topology
  int switch_ = -1;
};

}  // namespace

Expected<Topology> topology_of(const Machine& machine, const System& system) {
  for (std::size_t p = 0; p < machine.parts().size(); ++p) {
    const PartKind kind = machine.parts()[p].kind;
    if (kind != PartKind::kGpu && kind != PartKind::kNic) continue;
    bool on_pcie = false;
    for (const MachineLink& link : machine.links())
      on_pcie = on_pcie || (link.from == static_cast<int>(p) && link.kind == LinkKind::kPcie);
    if (!on_pcie)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing, "Machine.link"},
          fmt::format("machine {}: {} has no PCIe link, which NCCL's search needs; use a "
                      "topology file of NCCL's (NCCL_TOPO_DUMP_FILE)",
                      machine.name(), machine.parts()[p].name)));
  }
  return Drawing(machine, system).draw();
}

}  // namespace tutti::core::nccl
