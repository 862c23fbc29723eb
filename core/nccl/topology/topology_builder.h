#pragma once

// Declarations for the source files that read and change topologies. No other code includes this
// header.

#include <algorithm>

#include "core/nccl/topology/topology.h"

namespace tutti::core::nccl {

/// Builds a topology step by step. SOURCE (for every rule): NVIDIA/nccl v2.28.9 src/graph/topo.cc.
class TopologyBuilder {
 public:
  struct End {
    int to = 0;
    Wire kind = Wire::kPci;
    float gb_per_s = 0;
  };

  /// Begins with an empty topology, or with those nodes of an existing topology for which `keep`
  /// returns true.
  TopologyBuilder() = default;
  template <class Keep>
  TopologyBuilder(const Topology& topology, const Keep& keep);

  /// Adds a node and returns its index.
  int add(TopologyNode node);
  [[nodiscard]] TopologyNode& node(int index) { return nodes_[index]; }
  [[nodiscard]] int count(NodeKind kind) const;
  /// Returns the index of the node; -1 if there is none.
  [[nodiscard]] int find(NodeKind kind, int host, std::uint64_t local_id) const;

  /// Adds a link in one direction. If there is already a link of this kind between the two nodes,
  /// only increases its bandwidth. The links of a node are in descending order of bandwidth; links
  /// with equal bandwidth are in the order in which they were added.
  void join(int from, int to, Wire kind, float gb_per_s);
  void join_both_ways(int a, int b, Wire kind, float gb_per_s);
  /// Returns the index of the CPU at the root of a GPU's PCIe tree; -1 if there is none.
  [[nodiscard]] int cpu_of(int node) const;

  /// Merges the two levels of each Broadcom Gen4 or Gen5 switch into one, because every port of
  /// such a switch has the full bandwidth.
  void flatten_broadcom_switches();
  /// Adds a link between every two CPUs of a host, with the rate between sockets.
  void join_cpus();
  /// Moves the links that lead up the PCIe tree to the end of each node's list of links.
  void sort_links();

  /// Returns the topology. Calls `one_way(from, to)` for each link without a counterpart in the
  /// other direction.
  template <class OneWay>
  Topology finish(const OneWay& one_way) const;

 private:
  [[nodiscard]] std::vector<End>& ends(int node) { return ends_[node]; }
  [[nodiscard]] const std::vector<End>& ends(int node) const { return ends_[node]; }
  void absorb(int top, int sub);
  void sort_below(int node, int up);
  [[nodiscard]] int cpu_above(int node, int from) const;

  std::vector<TopologyNode> nodes_;     ///< nodes without their links
  std::vector<std::vector<End>> ends_;  ///< for each node: the nodes to which its links lead
  std::vector<bool> gone_;              ///< true for each node that has been removed
};

template <class Keep>
TopologyBuilder::TopologyBuilder(const Topology& topology, const Keep& keep)
    : nodes_(topology.nodes), ends_(topology.nodes.size()), gone_(topology.nodes.size()) {
  for (std::size_t n = 0; n < nodes_.size(); ++n) gone_[n] = !keep(nodes_[n]);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (const int link : nodes_[n].links) {
      const TopologyLink& l = topology.links[link];
      if (!gone_[n] && !gone_[l.to]) ends_[n].push_back({l.to, l.kind, l.gb_per_s});
    }
  }
}

template <class OneWay>
Topology TopologyBuilder::finish(const OneWay& one_way) const {
  Topology made;
  std::vector<int> renamed(nodes_.size(), -1);
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (gone_[n]) continue;
    renamed[n] = static_cast<int>(made.nodes.size());
    made.hosts = std::max(made.hosts, nodes_[n].host + 1);
    made.of[static_cast<std::size_t>(nodes_[n].kind)].push_back(renamed[n]);
    made.nodes.push_back(nodes_[n]);
    made.nodes.back().links.clear();
  }
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    for (const End& end : ends_[n]) {
      if (gone_[n]) break;
      const int link = static_cast<int>(made.links.size());
      made.links.push_back({renamed[n], renamed[end.to], end.kind, end.gb_per_s});
      made.nodes[renamed[n]].links.push_back(link);
    }
  }
  for (TopologyLink& link : made.links) {
    for (const int back : made.nodes[link.to].links) {
      const TopologyLink& other = made.links[back];
      if (other.to != link.from || other.kind != link.kind) continue;
      link.back = back;
      break;
    }
    if (link.back < 0) one_way(made.nodes[link.from], made.nodes[link.to]);
  }
  return made;
}

}  // namespace tutti::core::nccl
