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

/// A device or network card: part `part` of worker `worker`'s machine. Switch s of the network is
/// {-1, -1 - s}.
struct PartId {
  std::int32_t worker = 0;
  std::int32_t part = 0;
  auto operator<=>(const PartId&) const = default;
};

/// A directed link of the cluster. Links between switches of the network come first, then those of
/// each worker in turn, so that nothing has to be stored per link.
using LinkId = std::int64_t;

/// The network between the workers' network cards.
struct Network {
  enum class Kind { kOneSwitch, kRails, kFatTree, kDragonfly };
  Kind kind = Kind::kOneSwitch;
  /// The upper limit of a port's bandwidth; within it, a port is as fast as its card.
  std::optional<Bandwidth> port_bandwidth;
  /// One way, card to card over one switch; half of it applies on the way up to the switch, half on
  /// the way down.
  Time latency;
  std::string source;
  /// The upper limit of every message's bandwidth over the network, however fast the ports are.
  std::optional<Bandwidth> connection = {};
  FatTreeShape fat_tree = {};     ///< only if `kind` is kFatTree
  DragonflyShape dragonfly = {};  ///< only if `kind` is kDragonfly
  PathChoice choice = {};         ///< only for fat trees and dragonflies
  /// The transport that the network or its kind of link states; kNone if neither does.
  Transport transport = Transport::kNone;
  HostTransportSettings host_settings = {};  ///< as written in the scenario
  /// The resources of hosts that messages pass; only with transport TCP, and set once the strategy
  /// is known.
  std::optional<HostTransport> host = {};
};

/// One link of a route, with the parameters that apply to a message there.
struct Hop {
  LinkId link = 0;
  LinkKind kind = LinkKind::kPcie;
  Bandwidth bandwidth;
  Time latency;
  PartId from;  ///< `part` is below 0 for the network's switches
  PartId to;
  /// True if the message must have arrived completely before it enters this link, because it is
  /// staged in memory.
  bool staged = false;
};

/// Identical workers with consecutive task indices.
struct WorkerGroup {
  std::shared_ptr<const Machine> machine;
  std::int64_t count = 1;
};

/// The path of messages between GPUs and the network: directly (GPUDirect RDMA), through host
/// memory on both sides, or through host memory on the receiver's request, which costs the latency
/// of the network route once more.
enum class Staging { kDirect, kViaHost, kViaHostOnRequest };

/// The workers and the network. Memory grows with the number of machine types, not of workers.
class Cluster {
 public:
  /// `replicas` devices of each worker hold a replica: its first GPUs, or its first CPUs if it has
  /// no GPU. The workers of the last `server_groups` groups hold no replica: their CPUs are
  /// parameter servers. REQUIRES: at least one worker with replicas; every machine has enough
  /// devices (a server's a CPU); a network if there are several workers, with a shape that they
  /// fit.
  Cluster(std::vector<WorkerGroup> groups, int replicas, std::optional<Network> network,
          std::size_t server_groups = 0);

  /// Returns this cluster with another network. REQUIRES: the network has the same kind and shape.
  [[nodiscard]] Cluster with_network(Network network) const {
    Cluster other = *this;
    other.network_ = std::move(network);
    return other;
  }

  /// The number of workers including parameter servers, which come last.
  [[nodiscard]] std::int64_t workers() const { return workers_; }
  [[nodiscard]] std::int64_t servers() const { return servers_; }
  [[nodiscard]] int replicas_per_worker() const { return replicas_; }
  [[nodiscard]] std::int64_t replicas() const { return (workers_ - servers_) * replicas_; }
  [[nodiscard]] const std::vector<WorkerGroup>& groups() const { return groups_; }
  /// The number of groups with replicas; they come first.
  [[nodiscard]] std::size_t replica_groups() const { return replica_groups_; }
  [[nodiscard]] const std::optional<Network>& network() const { return network_; }
  /// The switches between the workers' cards; null for a single switch, or one per rail.
  [[nodiscard]] const Fabric* fabric() const { return fabric_.get(); }
  [[nodiscard]] const Machine& machine(std::int64_t worker) const {
    return *groups_[group_of(worker)].machine;
  }
  [[nodiscard]] const Part& part(PartId id) const {
    return machine(id.worker).parts()[static_cast<std::size_t>(id.part)];
  }

  /// The device of replica `index` (0 … replicas() - 1): worker by worker, in the machine's order.
  [[nodiscard]] PartId replica(std::int64_t index) const;
  /// The device that represents the worker's CPU: its first CPU, or its first device if the machine
  /// has no CPU.
  [[nodiscard]] PartId host(std::int64_t worker) const;

  /// Appends the hops from one device to another to `route`; none from a device to itself. Over the
  /// network the sender's nearest card sends. With one switch the receiver's nearest card receives,
  /// with rails the card of the same index. Staged messages go GPU → host → network → host → GPU
  /// and are copied as a whole at each host.
  /// ERRORS (false): the machines do not reach the network.
  bool append_route(PartId from, PartId to, Staging staging, std::vector<Hop>& route) const;
  /// Like append_route(), as if `to` were in another, identical worker: over the network and back.
  bool append_route_across(PartId from, PartId to, Staging staging, std::vector<Hop>& route) const;

  /// The number of links: between switches, inside workers and, if there is a network, one up and
  /// one down per network card.
  [[nodiscard]] LinkId links() const { return links_; }
  /// The number of links between switches; they come first.
  [[nodiscard]] LinkId switch_links() const { return fabric_ ? fabric_->links() : 0; }
  [[nodiscard]] Hop link(LinkId id) const;
  /// The first link of a worker; its other links follow, up to the next worker's. `workers()` gives
  /// links().
  [[nodiscard]] LinkId first_link(std::int64_t worker) const;
  /// The bandwidth of the fastest link.
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
  /// The device in whose memory a message of `device` is staged; the device itself if it is a CPU
  /// or its machine has none.
  [[nodiscard]] PartId staging_host(PartId device) const;
  bool append_local(PartId from, PartId to, bool staged, std::vector<Hop>& route) const;
  bool append_network(PartId from, PartId to, bool staged, std::vector<Hop>& route) const;

  std::vector<WorkerGroup> groups_;
  std::vector<std::int64_t> first_worker_;  ///< by group; the last entry is the number of workers
  std::vector<LinkId> first_link_;          ///< by group; the last entry is the number of links
  int replicas_ = 0;
  std::size_t replica_groups_ = 0;
  std::int64_t workers_ = 0;
  std::int64_t servers_ = 0;
  LinkId links_ = 0;
  std::optional<Network> network_;
  std::shared_ptr<const Fabric> fabric_;
};

}  // namespace tutti::core
