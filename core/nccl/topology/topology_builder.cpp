#include "core/nccl/topology/topology_builder.h"

#include <utility>

#include "core/nccl/topology/rates.h"

namespace tutti::core::nccl {

namespace {

/// Returns the PCIe generation of a Broadcom switch, 4 or 5; 0 for all other switches. `level` is 0
/// for the upper half of a switch, and 1 for the lower half.
int broadcom_generation(std::uint64_t device, std::uint64_t level) {
  const std::uint64_t model = device & ~std::uint64_t{0xfff};
  if (model == 0x1000'c010'1000'a000) return 4;
  if (model == (0x1000'c030'1000'0000 | level * 0x1000)) return 5;
  return 0;
}

}  // namespace

int TopologyBuilder::add(TopologyNode node) {
  nodes_.push_back(std::move(node));
  ends_.emplace_back();
  gone_.push_back(false);
  return static_cast<int>(nodes_.size()) - 1;
}

int TopologyBuilder::count(NodeKind kind) const {
  int sum = 0;
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    sum += !gone_[n] && nodes_[n].kind == kind ? 1 : 0;
  return sum;
}

int TopologyBuilder::find(NodeKind kind, int host, std::uint64_t local_id) const {
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    const TopologyNode& node = nodes_[n];
    if (!gone_[n] && node.kind == kind && node.host == host && node.local_id == local_id)
      return static_cast<int>(n);
  }
  return -1;
}

void TopologyBuilder::join(int from, int to, Wire kind, float gb_per_s) {
  std::vector<End>& all = ends(from);
  auto at = std::find_if(all.begin(), all.end(),
                         [&](const End& e) { return e.to == to && e.kind == kind; });
  if (at == all.end()) at = all.insert(all.end(), End{to, kind, 0});
  at->gb_per_s += gb_per_s;
  while (at != all.begin() && std::prev(at)->gb_per_s < at->gb_per_s) {
    std::iter_swap(at, std::prev(at));
    --at;
  }
}

void TopologyBuilder::join_both_ways(int a, int b, Wire kind, float gb_per_s) {
  join(a, b, kind, gb_per_s);
  join(b, a, kind, gb_per_s);
}

int TopologyBuilder::cpu_above(int node, int from) const {
  if (nodes_[node].kind == NodeKind::kCpu) return node;
  for (const End& end : ends(node)) {
    const NodeKind kind = nodes_[end.to].kind;
    if (end.kind != Wire::kPci || end.to == from ||
        (kind != NodeKind::kPci && kind != NodeKind::kCpu))
      continue;
    if (const int cpu = cpu_above(end.to, node); cpu >= 0) return cpu;
  }
  return -1;
}

int TopologyBuilder::cpu_of(int node) const { return cpu_above(node, -1); }

void TopologyBuilder::absorb(int top, int sub) {
  for (const End& end : ends(sub)) {
    if (end.to == top) continue;
    ends(top).push_back(end);
    auto& back = ends(end.to);
    const auto to_sub =
        std::find_if(back.begin(), back.end(), [sub](const End& e) { return e.to == sub; });
    if (to_sub != back.end()) to_sub->to = top;
  }
  ends(sub).clear();
  gone_[sub] = true;
  for (auto& all : ends_) std::erase_if(all, [sub](const End& e) { return e.to == sub; });
}

void TopologyBuilder::flatten_broadcom_switches() {
  // Merging two switches changes their links, and thereby affects which switches can be merged
  // next.
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (gone_[n] || nodes_[n].kind != NodeKind::kPci) continue;
    const int generation = broadcom_generation(nodes_[n].pci_device, 0);
    if (generation == 0) continue;
    std::vector<int> subs;
    for (const End& end : ends_[n]) {
      const TopologyNode& sub = nodes_[end.to];
      if (sub.kind == NodeKind::kPci && broadcom_generation(sub.pci_device, 1) == generation)
        subs.push_back(end.to);
    }
    for (const int sub : subs) absorb(static_cast<int>(n), sub);
    nodes_[n].pci_device |= 0xffff;  // marks the switch as done
    n = static_cast<std::size_t>(-1);
  }
}

void TopologyBuilder::join_cpus() {
  const int count = static_cast<int>(nodes_.size());
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) {
      if (a == b || node(a).kind != NodeKind::kCpu || node(b).kind != NodeKind::kCpu) continue;
      if (node(a).host == node(b).host) join(a, b, Wire::kSys, socket_gb_per_s(node(a).cpu));
    }
  }
}

void TopologyBuilder::sort_below(int node, int up) {
  auto& all = ends(node);
  if (up >= 0) {
    const auto at = std::find_if(all.begin(), all.end(), [up](const End& e) { return e.to == up; });
    if (at != all.end()) std::rotate(at, at + 1, all.end());
  }
  for (std::size_t l = 0; l < ends(node).size(); ++l) {
    const End end = ends(node)[l];
    if (end.kind == Wire::kPci && end.to != up) sort_below(end.to, node);
  }
}

void TopologyBuilder::sort_links() {
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (!gone_[n] && nodes_[n].kind == NodeKind::kCpu) sort_below(static_cast<int>(n), -1);
  }
}

}  // namespace tutti::core::nccl
