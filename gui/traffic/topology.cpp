// Builds the graph of devices and links that the window draws. The cluster and the timeline use the
// same names for nodes (worker and name) and for links ("w0/gpu1→w0/nvswitch"), so their data is
// joined by name. The network with all its switches is one node, which belongs to no worker. Links
// between switches are not drawn. At most 256 workers are drawn.
//
// If the cluster is known, the route of a message may cross several links. Otherwise, the route is
// known only if a single link connects sender and receiver. Positions are computed in
// topology_layout.cpp.

#include "gui/traffic/topology.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

namespace tutti::gui {

using core::Cluster;
using core::Hop;
using core::PartId;
using core::PartKind;

namespace {

Topology::Kind kind_of(PartKind kind) {
  switch (kind) {
    case PartKind::kGpu: return Topology::Kind::kGpu;
    case PartKind::kCpu: return Topology::Kind::kCpu;
    case PartKind::kPcieSwitch: return Topology::Kind::kPcieSwitch;
    case PartKind::kNvswitch: return Topology::Kind::kNvswitch;
    case PartKind::kNic: return Topology::Kind::kNic;
  }
  return Topology::Kind::kPart;
}

/// Parses a name such as "w12/gpu1" as 12 and "gpu1"; returns nullopt for other names.
std::optional<std::pair<std::int32_t, std::string>> part_of(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos || slash < 2 || slash > 10 || name[0] != 'w') return std::nullopt;
  std::int64_t worker = 0;
  for (std::size_t i = 1; i < slash; ++i) {
    if (name[i] < '0' || name[i] > '9') return std::nullopt;
    worker = worker * 10 + (name[i] - '0');
  }
  if (worker > core::kMaxRanks) return std::nullopt;
  return std::pair(static_cast<std::int32_t>(worker), name.substr(slash + 1));
}

/// Guesses the kind of a device from its name; used if nothing else is known about the device.
Topology::Kind guessed(const std::string& name) {
  if (name.starts_with("gpu")) return Topology::Kind::kGpu;
  if (name.starts_with("cpu")) return Topology::Kind::kCpu;
  if (name.starts_with("nic")) return Topology::Kind::kNic;
  return Topology::Kind::kPart;
}

constexpr const char* kArrow = "→";
constexpr const char* kNetwork = "network";

/// Returns true for "network", and for the names that Fabric gives to switches of the network. The
/// network and its switches are drawn as one node.
bool is_of_network(const std::string& name) {
  const auto numbered = [&name](const char* word) {
    const std::size_t length = std::string(word).size();
    return name.starts_with(word) && name.size() > length && name[length] >= '0' &&
           name[length] <= '9';
  };
  return name == kNetwork || numbered("leaf") || numbered("spine") ||
         (numbered("g") && name.find('r') != std::string::npos &&
          name.find('/') == std::string::npos);
}

}  // namespace

std::string Topology::Node::full_name() const {
  return worker < 0 ? name : fmt::format("w{}/{}", worker, name);
}

Topology Topology::of(const Trace& trace, const core::Scenario* plan, const Traffic* traffic) {
  Topology topology;
  topology.has_links_ = !trace.links().empty();
  if (traffic) topology.devices_ = traffic->devices();
  if (topology.has_links_ && plan) {
    topology.cluster_ = plan->cluster;
    topology.from_cluster(trace, *plan->cluster, std::min(kMaxWorkers, plan->cluster->workers()));
  } else if (topology.has_links_) {
    topology.from_records(trace);
    topology.words_ = "Only links that the timeline names are drawn.";
  } else {
    topology.devices_of(trace);
    if (traffic) topology.from_messages(*traffic);
    topology.words_ =
        topology.links_.empty()
            ? "Only devices are drawn, because this timeline records no links or messages."
            : fmt::format(
                  "{} no record of links. Lines connect senders and receivers; wider lines carried "
                  "more bytes.",
                  trace.complete() ? "A real run has" : "The readable part of the file has");
  }
  topology.index(traffic);
  return topology;
}

std::size_t Topology::node(std::int32_t worker, const std::string& name, Kind kind) {
  const auto [known, fresh] = node_by_name_.try_emplace({worker, name}, nodes_.size());
  if (fresh) nodes_.push_back({kind, worker, name, -1});
  return known->second;
}

void Topology::from_cluster(const Trace& trace, const Cluster& cluster, std::int64_t workers) {
  std::map<std::string, std::size_t> records;
  for (std::size_t r = 0; r < trace.links().size(); ++r) records.emplace(trace.links()[r].name, r);
  if (cluster.workers() > workers) {
    words_ = fmt::format("Only workers 0 to {} of {} are drawn.", workers - 1, cluster.workers());
  }
  if (cluster.network()) node(-1, kNetwork, Kind::kNetwork);
  for (std::int32_t worker = 0; worker < workers; ++worker) {
    for (const core::Part& part : cluster.machine(worker).parts())
      node(worker, part.name, kind_of(part.kind));
  }
  const auto end_of = [&](PartId part) {
    return part.part < 0
               ? node(-1, kNetwork, Kind::kNetwork)
               : node(part.worker, cluster.part(part).name, kind_of(cluster.part(part).kind));
  };
  // Switches of the network are drawn as one node, so links between them are not drawn.
  if (cluster.fabric()) {
    words_ +=
        fmt::format("{}The network ({}) is drawn as a single node; tutti report lists the links.",
                    words_.empty() ? "" : " ", cluster.fabric()->describe());
  }
  for (core::LinkId id = cluster.switch_links(); id < cluster.first_link(workers); ++id) {
    const Hop hop = cluster.link(id);
    Link link{
        end_of(hop.from), end_of(hop.to), cluster.link_name(id), hop.kind, hop.bandwidth, {}, {}};
    if (const auto record = records.find(link.name); record != records.end()) {
      link.record = record->second;
      link.bytes = trace.links()[record->second].bytes;
    }
    link_by_id_[id] = links_.size();
    links_.push_back(std::move(link));
  }
}

void Topology::from_records(const Trace& trace) {
  const auto end_of = [&](const std::string& name) -> std::optional<std::size_t> {
    if (is_of_network(name)) return node(-1, kNetwork, Kind::kNetwork);
    const auto part = part_of(name);
    if (!part || part->first >= kMaxWorkers) return std::nullopt;
    return node(part->first, part->second, guessed(part->second));
  };
  for (std::size_t r = 0; r < trace.links().size(); ++r) {
    const core::LinkRecord& record = trace.links()[r];
    const std::size_t arrow = record.name.find(kArrow);
    if (arrow == std::string::npos) continue;
    const auto from = end_of(record.name.substr(0, arrow));
    const auto to = end_of(record.name.substr(arrow + std::string(kArrow).size()));
    if (from && to && (*from != *to || nodes_[*from].worker >= 0))
      links_.push_back({*from, *to, record.name, record.kind, record.bandwidth, record.bytes, r});
  }
  devices_of(trace);
}

void Topology::devices_of(const Trace& trace) {
  for (const Trace::Row& row : trace.rows()) {
    if (row.track.worker < kMaxWorkers)
      node(row.track.worker, row.track.device, guessed(row.track.device));
  }
}

void Topology::from_messages(const Traffic& traffic) {
  for (const auto& [ends, bytes] : traffic.bytes_between()) {
    const Traffic::Device& a = traffic.devices()[ends.first];
    const Traffic::Device& b = traffic.devices()[ends.second];
    if (a.worker >= kMaxWorkers || b.worker >= kMaxWorkers) continue;
    const std::size_t from = node(a.worker, a.name, guessed(a.name)),
                      to = node(b.worker, b.name, guessed(b.name));
    const auto kind = a.worker == b.worker ? core::LinkKind::kPcie : core::LinkKind::kNetwork;
    links_.push_back({from,
                      to,
                      nodes_[from].full_name() + kArrow + nodes_[to].full_name(),
                      kind,
                      {},
                      bytes,
                      {}});
  }
}

void Topology::index(const Traffic* traffic) {
  if (traffic) {
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      nodes_[n].device = traffic->device(nodes_[n].worker, nodes_[n].name);
      if (nodes_[n].device >= 0) node_by_device_[nodes_[n].device] = n;
    }
  }
  for (std::size_t l = 0; l < links_.size(); ++l) {
    if (links_[l].record) link_by_record_[*links_[l].record] = l;
    link_by_ends_.emplace(std::pair(links_[l].from, links_[l].to), l);
  }
}

std::optional<std::size_t> Topology::node_of_device(std::int32_t device) const {
  const auto found = node_by_device_.find(device);
  return found == node_by_device_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<std::size_t> Topology::link_of_record(std::size_t record) const {
  const auto found = link_by_record_.find(record);
  return found == link_by_record_.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::size_t> Topology::route(std::int32_t from, std::int32_t to,
                                         core::Staging staging) const {
  const auto a = node_of_device(from), b = node_of_device(to);
  if (!a || !b || *a == *b) return {};
  std::vector<std::size_t> links;
  if (!cluster_) {
    if (const auto direct = link_by_ends_.find({*a, *b}); direct != link_by_ends_.end())
      links = {direct->second};
    return links;
  }
  const auto part_id = [&](const Node& node) -> PartId {
    const std::vector<core::Part>& parts = cluster_->machine(node.worker).parts();
    const auto part = std::find_if(parts.begin(), parts.end(),
                                   [&](const auto& p) { return p.name == node.name; });
    return {node.worker, static_cast<std::int32_t>(part - parts.begin())};
  };
  std::vector<Hop> hops;
  if (!cluster_->append_route(part_id(nodes_[*a]), part_id(nodes_[*b]), staging, hops)) return {};
  for (const Hop& hop : hops) {
    const auto link = link_by_id_.find(hop.link);
    if (link != link_by_id_.end()) links.push_back(link->second);
  }
  return links;
}

}  // namespace tutti::gui
