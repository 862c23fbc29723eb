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

/// Identifies a device, switch or network card of a worker; `part` is the index of this device,
/// switch or card in Machine::parts(). Switch number s of the network has the id {-1, -1 - s}.
struct PartId {
  std::int32_t worker = 0;
  std::int32_t part = 0;
  auto operator<=>(const PartId&) const = default;
};

/// The number of a directed link of the cluster. Links between switches have the lowest numbers;
/// the links of worker 0, worker 1, … follow. The properties of a link are computed from its
/// number, so nothing is stored per link.
using LinkId = std::int64_t;

/// The network between the workers' network cards.
struct Network {
  enum class Kind { kOneSwitch, kRails, kFatTree, kDragonfly };
  Kind kind = Kind::kOneSwitch;
  /// The maximum bandwidth of a switch port. A port has this bandwidth or, if its network card is
  /// slower, the bandwidth of the card.
  std::optional<Bandwidth> port_bandwidth;
  /// The one-way latency from card to card over one switch. Half of the latency belongs to the link
  /// up to the switch, and half to the link down.
  Time latency;
  std::string source;
  /// The maximum bandwidth of a single message over the network. The links and ports on the route
  /// also limit each message.
  std::optional<Bandwidth> connection = {};
  FatTreeShape fat_tree = {};     ///< only if `kind` is kFatTree
  DragonflyShape dragonfly = {};  ///< only if `kind` is kDragonfly
  PathChoice choice = {};         ///< the rule that chooses among equally short paths; only for fat
                                  ///< trees and dragonflies
  /// The transport that the scenario's network or the network's link type specifies; kNone if
  /// neither specifies one.
  Transport transport = Transport::kNone;
  /// The numbers of threads per connection, and of sockets per thread, that NCCL uses by default
  /// with the cards of this network; nullopt: NCCL does not recognise the cards (nccl_sockets.h).
  std::optional<int> nccl_socket_threads = {}, nccl_sockets_per_thread = {};
  HostTransportSettings host_settings = {};  ///< settings of `host` as written in the scenario
  /// The model of the host threads that move messages over the network. Set only if the transport
  /// is TCP and the strategy, which determines the library, is known.
  std::optional<HostTransport> host = {};
};

/// One link on the route of a message. `bandwidth` and `latency` are the values that apply to the
/// message.
struct Hop {
  LinkId link = 0;
  LinkKind kind = LinkKind::kPcie;
  Bandwidth bandwidth;
  Time latency;
  PartId from;  ///< `part` is negative for switches of the network
  PartId to;
  /// True if a message enters this link only after the whole message was stored in host memory.
  bool staged = false;
};

/// Identical workers with consecutive task indices.
struct WorkerGroup {
  std::shared_ptr<const Machine> machine;
  std::int64_t count = 1;
};

/// The path of messages between a GPU and the network. With kDirect, messages use GPUDirect RDMA.
/// With kViaHost, messages pass through host memory on the sender's and on the receiver's side.
/// kViaHostOnRequest is like kViaHost, but the receiver first sends a request, which adds one
/// network latency.
enum class Staging { kDirect, kViaHost, kViaHostOnRequest };

/// The workers of a cluster and the network between them. Memory use depends on the number of
/// groups of identical workers, not on the number of workers.
class Cluster {
 public:
  /// Each worker has `replicas` devices that hold a replica: its first GPUs, or its first CPUs if
  /// it has no GPU. The workers of the last `server_groups` groups hold no replicas; their CPUs are
  /// parameter servers.
  /// REQUIRES: at least one group has replicas; every machine has enough devices (a server has a
  /// CPU); if there are several workers, there is a network whose shape has room for them.
  Cluster(std::vector<WorkerGroup> groups, int replicas, std::optional<Network> network,
          std::size_t server_groups = 0);

  /// Returns a copy of this cluster with another network.
  /// REQUIRES: the new network has the same kind and shape.
  [[nodiscard]] Cluster with_network(Network network) const {
    Cluster other = *this;
    other.network_ = std::move(network);
    return other;
  }

  /// The number of workers, including the parameter servers, which have the highest indices.
  [[nodiscard]] std::int64_t workers() const { return workers_; }
  [[nodiscard]] std::int64_t servers() const { return servers_; }
  [[nodiscard]] int replicas_per_worker() const { return replicas_; }
  [[nodiscard]] std::int64_t replicas() const { return (workers_ - servers_) * replicas_; }
  [[nodiscard]] const std::vector<WorkerGroup>& groups() const { return groups_; }
  /// The number of groups whose workers hold replicas; these are the first groups.
  [[nodiscard]] std::size_t replica_groups() const { return replica_groups_; }
  [[nodiscard]] const std::optional<Network>& network() const { return network_; }
  /// The switches of a fat tree or dragonfly, with the links between them; null if the network is
  /// one switch, or one switch per rail.
  [[nodiscard]] const Fabric* fabric() const { return fabric_.get(); }
  [[nodiscard]] const Machine& machine(std::int64_t worker) const {
    return *groups_[group_of(worker)].machine;
  }
  [[nodiscard]] const Part& part(PartId id) const { return machine(id.worker).parts()[id.part]; }

  /// The device that holds replica `index` (0 … replicas() - 1). Replicas are numbered worker by
  /// worker; within a worker, they have the order of the machine's devices.
  [[nodiscard]] PartId replica(std::int64_t index) const;
  /// The device that represents the worker's host: its first CPU, or its first GPU if the machine
  /// has no CPU.
  [[nodiscard]] PartId host(std::int64_t worker) const;

  /// Appends the links of the route from one device to another to `route`. Appends nothing if both
  /// ends are the same device. A message over the network leaves the sending worker through the
  /// card nearest to the sender, and arrives at the card nearest to the receiver. If the network
  /// has rails, the message arrives instead at the card with the same index as the sending card.
  /// Staged messages go GPU → host → network → host → GPU. They use the cards that are nearest to
  /// the two hosts, and each host stores the whole message before it forwards the message. ERRORS
  /// (returns false): there is no route.
  bool append_route(PartId from, PartId to, Staging staging, std::vector<Hop>& route) const;
  /// Does the same as append_route(), but the route goes over the network even if both devices are
  /// on the same worker.
  bool append_route_across(PartId from, PartId to, Staging staging, std::vector<Hop>& route) const;

  /// The number of links of the cluster: links between switches, links inside workers and, if there
  /// is a network, one link up and one link down for each network card.
  [[nodiscard]] LinkId links() const { return links_; }
  /// The number of links between switches; their numbers are 0 … switch_links() - 1.
  [[nodiscard]] LinkId switch_links() const { return fabric_ ? fabric_->links() : 0; }
  [[nodiscard]] Hop link(LinkId id) const;
  /// The number of a worker's first link. The worker's last link is first_link(worker + 1) - 1.
  /// first_link(workers()) is links().
  [[nodiscard]] LinkId first_link(std::int64_t worker) const;
  /// The bandwidth of the fastest link.
  [[nodiscard]] Bandwidth widest_link() const;
  /// Returns the name of a link, such as "w0/gpu1→w0/nvswitch", "w1/nic0→network" or
  /// "leaf0→spine1".
  [[nodiscard]] std::string link_name(LinkId id) const;
  /// Returns the name of a device, switch or card, such as "w0/gpu1".
  [[nodiscard]] std::string part_name(PartId id) const;

 private:
  [[nodiscard]] std::size_t group_of(std::int64_t worker) const;
  [[nodiscard]] std::size_t group_of_link(LinkId id) const;
  [[nodiscard]] Hop local_hop(std::int64_t worker, int link) const;
  [[nodiscard]] Hop port_hop(std::int64_t worker, int nic, bool up) const;
  [[nodiscard]] Hop switch_hop(LinkId id) const;
  [[nodiscard]] LinkId links_per_worker(const Machine& machine) const;
  /// Returns the CPU in whose memory messages of `device` are staged. Returns `device` itself if it
  /// is a CPU or its machine has no CPU.
  [[nodiscard]] PartId staging_host(PartId device) const;
  bool append_local(PartId from, PartId to, bool staged, std::vector<Hop>& route) const;
  bool append_network(PartId from, PartId to, bool staged, std::vector<Hop>& route) const;

  std::vector<WorkerGroup> groups_;
  std::vector<std::int64_t> first_worker_;  ///< number of each group's first worker; the last entry
                                            ///< is the total number of workers
  std::vector<LinkId> first_link_;  ///< number of each group's first link; the last entry is the
                                    ///< total number of links
  int replicas_ = 0;
  std::size_t replica_groups_ = 0;
  std::int64_t workers_ = 0;
  std::int64_t servers_ = 0;
  LinkId links_ = 0;
  std::optional<Network> network_;
  std::shared_ptr<const Fabric> fabric_;
};

}  // namespace tutti::core
