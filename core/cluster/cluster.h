#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/cluster/dragonfly.h"
#include "core/cluster/fat_tree.h"
#include "core/cluster/host_transport.h"
#include "core/cluster/machine.h"

namespace tutti::core {

/// A device or network card: part `part` of worker `worker`'s machine. Switch s of the network is {-1, -1 - s}.
struct PartId {
  std::int32_t worker = 0;
  std::int32_t part = 0;
  auto operator<=>(const PartId&) const = default;
};

/// A directed link of the cluster. First those between switches of the network, then worker by worker, so that nothing has
/// to be stored per link.
using LinkId = std::int64_t;

/// What joins the workers' network cards.
struct Network {
  enum class Kind { kOneSwitch, kRails, kFatTree, kDragonfly };
  Kind kind = Kind::kOneSwitch;
  /// A port carries what its card does, but no more than this.
  std::optional<Bandwidth> port_bandwidth;
  /// One way, card to card over one switch: half of it on the way up to the switch, half on the way down.
  Time latency;
  std::string source;
  /// No message over the network is faster, however wide the ports are.
  std::optional<Bandwidth> connection = {};
  FatTreeShape fat_tree = {};     ///< of that kind
  DragonflyShape dragonfly = {};  ///< of that kind
  PathChoice choice = {};         ///< of both
  /// What it states itself, or its kind of link does; kNone if neither.
  Transport transport = Transport::kNone;
  HostTransportSettings host_settings = {};  ///< as it is written
  /// The resources of hosts that messages pass; only with transport TCP, and known when the strategy is.
  std::optional<HostTransport> host = {};
};

/// Part of a route: one link, and what a message meets there.
struct Hop {
  LinkId link = 0;
  LinkKind kind = LinkKind::kPcie;
  Bandwidth bandwidth;
  Time latency;
  PartId from;  ///< `part` is below 0 for the network's switches
  PartId to;
  /// The message must have arrived as a whole before it enters this link (it was staged in memory).
  bool staged = false;
};

/// Alike workers with consecutive task indices.
struct WorkerGroup {
  std::shared_ptr<const Machine> machine;
  std::int64_t count = 1;
};

/// How messages between GPUs and the network travel: straight (GPUDirect RDMA), or through host memory on both sides; the
/// last besides only after the receiver has asked for them, which takes the latency of the way over the network once more.
enum class Staging { kDirect, kViaHost, kViaHostOnRequest };

/// The workers and what joins them. Its memory grows with the kinds of machines, not with the workers.
class Cluster {
 public:
  /// `replicas` devices of each worker hold a replica: its first GPUs, or its first CPUs if it has no GPU.
  /// The workers of the last `server_groups` groups hold no replica: their CPUs are parameter servers.
  /// REQUIRES: at least one worker with replicas; every machine has as many devices (a server's a CPU); a network if there are
  /// several workers, whose shape they fit.
  Cluster(std::vector<WorkerGroup> groups, int replicas, std::optional<Network> network, std::size_t server_groups = 0);

  /// The same with another description of its network. REQUIRES: of the same kind and shape.
  [[nodiscard]] Cluster with_network(Network network) const {
    Cluster other = *this;
    other.network_ = std::move(network);
    return other;
  }

  /// Servers included, which come last.
  [[nodiscard]] std::int64_t workers() const { return workers_; }
  [[nodiscard]] std::int64_t servers() const { return servers_; }
  [[nodiscard]] int replicas_per_worker() const { return replicas_; }
  [[nodiscard]] std::int64_t replicas() const { return (workers_ - servers_) * replicas_; }
  [[nodiscard]] const std::vector<WorkerGroup>& groups() const { return groups_; }
  /// The first so many of them have replicas.
  [[nodiscard]] std::size_t replica_groups() const { return replica_groups_; }
  [[nodiscard]] const std::optional<Network>& network() const { return network_; }
  /// What is between the workers' cards; null if that is one switch, or one per rail.
  [[nodiscard]] const Fabric* fabric() const { return fabric_.get(); }
  [[nodiscard]] const Machine& machine(std::int64_t worker) const { return *groups_[group_of(worker)].machine; }
  [[nodiscard]] const Part& part(PartId id) const {
    return machine(id.worker).parts()[static_cast<std::size_t>(id.part)];
  }

  /// The device of replica `index` (0 … replicas() - 1): worker by worker, in the machine's order.
  [[nodiscard]] PartId replica(std::int64_t index) const;
  /// The device that stands for the worker's CPU: its first CPU, or its first device if the machine has no CPU.
  [[nodiscard]] PartId host(std::int64_t worker) const;

  /// Appends the hops from one device to another to `route`. Nothing for a device to itself.
  /// Over the network the sender's nearest card sends and, on one switch, the receiver's nearest card receives; on
  /// rails the card of the same index does. Staged, the message goes GPU → host → network → host → GPU and is copied as
  /// a whole at each host.
  /// ERRORS (false): the machines do not reach the network.
  bool append_route(PartId from, PartId to, Staging staging, std::vector<Hop>& route) const;
  /// The same as if `to` were in another worker, just like its own: over the network, and back.
  bool append_route_across(PartId from, PartId to, Staging staging, std::vector<Hop>& route) const;

  /// All links there are: between switches, inside workers and, if there is a network, one up and one down per network
  /// card.
  [[nodiscard]] LinkId links() const { return links_; }
  /// Of those the first so many are between switches.
  [[nodiscard]] LinkId switch_links() const { return fabric_ ? fabric_->links() : 0; }
  [[nodiscard]] Hop link(LinkId id) const;
  /// The first link of a worker; its others follow up to the next worker's. `workers()` gives links().
  [[nodiscard]] LinkId first_link(std::int64_t worker) const;
  /// The widest of all.
  [[nodiscard]] Bandwidth widest_link() const;
  /// "w0/gpu1→w0/nvswitch", "w1/nic0→network", "leaf0→spine1".
  [[nodiscard]] std::string link_name(LinkId id) const;
  /// "w0/gpu1".
  [[nodiscard]] std::string part_name(PartId id) const;

 private:
  [[nodiscard]] std::size_t group_of(std::int64_t worker) const;
  [[nodiscard]] std::size_t group_of_link(LinkId id) const;
  [[nodiscard]] Hop local_hop(std::int64_t worker, int link) const;
  [[nodiscard]] Hop port_hop(std::int64_t worker, int nic, bool up) const;
  [[nodiscard]] Hop switch_hop(LinkId id) const;
  [[nodiscard]] LinkId links_per_worker(const Machine& machine) const;
  /// Where a message of the device waits in host memory; the device itself if it is a CPU or its machine has none.
  [[nodiscard]] PartId staging_host(PartId device) const;
  bool append_local(PartId from, PartId to, bool staged, std::vector<Hop>& route) const;
  bool append_network(PartId from, PartId to, bool staged, std::vector<Hop>& route) const;

  std::vector<WorkerGroup> groups_;
  std::vector<std::int64_t> first_worker_;  ///< of each group, and the number of workers behind the last
  std::vector<LinkId> first_link_;          ///< likewise
  int replicas_ = 0;
  std::size_t replica_groups_ = 0;
  std::int64_t workers_ = 0;
  std::int64_t servers_ = 0;
  LinkId links_ = 0;
  std::optional<Network> network_;
  std::shared_ptr<const Fabric> fabric_;
};

}  // namespace tutti::core
