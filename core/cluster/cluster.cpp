// The workers of a group are identical, so the code stores nothing per worker and nothing per link.
// The properties of a link are computed from its number. The links between switches have the lowest
// numbers. The links of each worker follow: first the links inside its machine, then two links for
// each network card, up and down. first_worker_ and first_link_ hold the first number of each
// group. From the number of a link, a binary search over the groups and a division therefore find
// the link's worker. A route over the network goes through the sender's machine, the sender's port,
// links of the fabric, the receiver's port, and the receiver's machine. Machine finds the routes
// inside machines; Fabric finds the routes between switches.

#include "core/cluster/cluster.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::core {
namespace {

std::shared_ptr<const Fabric> make_fabric(const std::optional<Network>& network,
                                          const std::vector<WorkerGroup>& groups) {
  if (!network) return nullptr;
  std::int64_t workers = 0;
  for (const WorkerGroup& group : groups) workers += group.count;
  switch (network->kind) {
    case Network::Kind::kFatTree:
      return std::make_shared<FatTree>(workers, network->fat_tree, network->choice);
    case Network::Kind::kDragonfly:
      return std::make_shared<Dragonfly>(workers, network->dragonfly, network->choice);
    case Network::Kind::kOneSwitch:
    case Network::Kind::kRails: break;
  }
  return nullptr;
}

}  // namespace

Cluster::Cluster(std::vector<WorkerGroup> groups, int replicas, std::optional<Network> network,
                 std::size_t server_groups)
    : groups_(std::move(groups)),
      replicas_(replicas),
      replica_groups_(groups_.size() - server_groups),
      network_(std::move(network)),
      fabric_(make_fabric(network_, groups_)) {
  links_ = switch_links();
  TUTTI_CHECK(groups_.size() > server_groups && replicas_ > 0,
              "groups = {}, of servers {}, replicas = {}", groups_.size(), server_groups,
              replicas_);
  for (const WorkerGroup& group : groups_) {
    const Machine& machine = *group.machine;
    const bool server = first_worker_.size() >= replica_groups_;
    const std::size_t devices =
        machine.gpus().empty() || server ? machine.cpus().size() : machine.gpus().size();
    const int wanted = server ? 1 : replicas_;
    TUTTI_CHECK(static_cast<std::size_t>(wanted) <= devices,
                "{} has {} devices, but {} are requested", machine.name(), devices, wanted);
    if (server) servers_ += group.count;
    first_worker_.push_back(workers_);
    first_link_.push_back(links_);
    workers_ += group.count;
    links_ += group.count * links_per_worker(machine);
  }
  first_worker_.push_back(workers_);
  first_link_.push_back(links_);
  TUTTI_CHECK(workers_ == 1 || network_, "{} workers without a network", workers_);
}

/// Returns the number of links of the machine. If there is a network, each network card adds two
/// links, one up and one down.
LinkId Cluster::links_per_worker(const Machine& machine) const {
  return static_cast<LinkId>(machine.links().size() + (network_ ? 2 * machine.nics().size() : 0));
}

std::size_t Cluster::group_of(std::int64_t worker) const {
  if (groups_.size() == 1) return 0;
  // The last entry is the total number of workers, so it is not the start of a group.
  return static_cast<std::size_t>(
             std::upper_bound(first_worker_.begin(), first_worker_.end() - 1, worker) -
             first_worker_.begin()) -
         1;
}

std::size_t Cluster::group_of_link(LinkId id) const {
  return static_cast<std::size_t>(std::upper_bound(first_link_.begin(), first_link_.end() - 1, id) -
                                  first_link_.begin()) -
         1;
}

LinkId Cluster::first_link(std::int64_t worker) const {
  if (worker == workers_) return links_;
  const std::size_t group = group_of(worker);
  return first_link_[group] +
         (worker - first_worker_[group]) * links_per_worker(*groups_[group].machine);
}

PartId Cluster::replica(std::int64_t index) const {
  const std::int64_t worker = index / replicas_;
  const Machine& m = machine(worker);
  const std::vector<int>& devices = m.gpus().empty() ? m.cpus() : m.gpus();
  return {static_cast<std::int32_t>(worker), devices[index % replicas_]};
}

PartId Cluster::host(std::int64_t worker) const {
  const Machine& m = machine(worker);
  return {static_cast<std::int32_t>(worker),
          m.cpus().empty() ? m.gpus().front() : m.cpus().front()};
}

Hop Cluster::local_hop(std::int64_t worker, int link) const {
  const MachineLink& l = machine(worker).links()[link];
  const auto w = static_cast<std::int32_t>(worker);
  return {first_link(worker) + link, l.kind, l.bandwidth, l.latency, {w, l.from}, {w, l.to}, false};
}

Hop Cluster::port_hop(std::int64_t worker, int nic, bool up) const {
  const Machine& m = machine(worker);
  const auto w = static_cast<std::int32_t>(worker);
  const int part = m.nics()[nic];
  const PartId card{w, part};
  const PartId beyond{-1, fabric_ ? -1 - fabric_->switch_of({worker, nic}) : -1};
  Bandwidth bandwidth = m.parts()[part].nic;
  if (network_->port_bandwidth) bandwidth = std::min(bandwidth, *network_->port_bandwidth);
  const Time half(network_->latency.count() / 2);
  Hop hop;
  hop.link = first_link(worker) + static_cast<LinkId>(m.links().size()) + 2 * nic + (up ? 0 : 1);
  hop.kind = LinkKind::kNetwork;
  hop.bandwidth = bandwidth;
  hop.latency = up ? half : network_->latency - half;
  hop.from = up ? card : beyond;
  hop.to = up ? beyond : card;
  return hop;
}

Hop Cluster::switch_hop(LinkId id) const {
  const Fabric::Link link = fabric_->link(id);
  return {id,           LinkKind::kNetwork,   link.bandwidth,
          link.latency, {-1, -1 - link.from}, {-1, -1 - link.to},
          false};
}

bool Cluster::append_local(PartId from, PartId to, bool staged, std::vector<Hop>& route) const {
  const auto links = machine(from.worker).route(from.part, to.part);
  if (!links) return false;
  for (const int link : *links) {
    route.push_back(local_hop(from.worker, link));
    route.back().staged = staged && link == links->front();
  }
  return true;
}

bool Cluster::append_network(PartId from, PartId to, bool staged, std::vector<Hop>& route) const {
  if (!network_) return false;
  const Machine& sender = machine(from.worker);
  const Machine& receiver = machine(to.worker);
  const int out = sender.nearest_nic(from.part);
  int in = receiver.nearest_nic(to.part);
  if (network_->kind == Network::Kind::kRails) in = out;
  if (out < 0 || in < 0 || in >= static_cast<int>(receiver.nics().size())) return false;
  if (!append_local(from, {from.worker, sender.nics()[out]}, staged, route)) return false;
  route.push_back(port_hop(from.worker, out, true));
  if (fabric_) {
    std::vector<LinkId> links;
    fabric_->append_route({from.worker, out}, {to.worker, in}, links);
    for (const LinkId link : links) route.push_back(switch_hop(link));
  }
  route.push_back(port_hop(to.worker, in, false));
  return append_local({to.worker, receiver.nics()[in]}, to, false, route);
}

PartId Cluster::staging_host(PartId device) const {
  const bool needs_one =
      part(device).kind == PartKind::kGpu && !machine(device.worker).cpus().empty();
  return needs_one ? host(device.worker) : device;
}

bool Cluster::append_route(PartId from, PartId to, Staging staging, std::vector<Hop>& route) const {
  return from.worker == to.worker ? append_local(from, to, false, route)
                                  : append_route_across(from, to, staging, route);
}

bool Cluster::append_route_across(PartId from, PartId to, Staging staging,
                                  std::vector<Hop>& route) const {
  if (staging == Staging::kDirect) return append_network(from, to, false, route);
  const PartId sender_host = staging_host(from);
  const PartId receiver_host = staging_host(to);
  if (!append_local(from, sender_host, false, route)) return false;
  const std::size_t first = route.size();
  if (!append_network(sender_host, receiver_host, sender_host != from, route)) return false;
  if (staging == Staging::kViaHostOnRequest) {
    Time way;
    for (std::size_t i = first; i < route.size(); ++i) way += route[i].latency;
    route[first].latency += way;
  }
  return append_local(receiver_host, to, true, route);
}

Hop Cluster::link(LinkId id) const {
  if (id < switch_links()) return switch_hop(id);
  const std::size_t group = group_of_link(id);
  const Machine& m = *groups_[group].machine;
  const LinkId offset = id - first_link_[group];
  const std::int64_t worker = first_worker_[group] + offset / links_per_worker(m);
  const LinkId local = offset % links_per_worker(m);
  const auto inside = static_cast<LinkId>(m.links().size());
  if (local < inside) return local_hop(worker, static_cast<int>(local));
  return port_hop(worker, static_cast<int>((local - inside) / 2), (local - inside) % 2 == 0);
}

Bandwidth Cluster::widest_link() const {
  Bandwidth widest = fabric_ ? fabric_->widest() : Bandwidth(1);
  for (const WorkerGroup& group : groups_) {
    const Machine& machine = *group.machine;
    for (const MachineLink& link : machine.links()) widest = std::max(widest, link.bandwidth);
    for (const int nic : machine.nics()) widest = std::max(widest, machine.parts()[nic].nic);
  }
  return widest;
}

std::string Cluster::part_name(PartId id) const {
  if (id.part < 0) return fabric_ ? fabric_->name(-1 - id.part) : "network";
  return fmt::format("w{}/{}", id.worker, part(id).name);
}

std::string Cluster::link_name(LinkId id) const {
  const Hop hop = link(id);
  return part_name(hop.from) + "→" + part_name(hop.to);
}

}  // namespace tutti::core
