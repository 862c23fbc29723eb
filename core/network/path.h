#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/base/flat_index.h"
#include "core/cluster/cluster.h"
#include "core/network/model.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// The index of a resource. A resource serves messages one after the other. It is a link, a port of
/// a device, a copy engine, or the threads of a host.
using ResourceId = std::int64_t;

/// One resource on the path of a message. The message enters the resource as soon as its first byte
/// has passed all previous hops.
struct PathHop {
  ResourceId resource = 0;
  Bandwidth rate;
  Time latency;  ///< latency from this hop to the next hop or to the receiver
  /// If the resource is the threads of a host: the costs of these threads
  /// (core/cluster/host_transport.h). `rate` is then the rate at which the threads move one
  /// message, or the largest possible number if this rate has no limit. Null if the resource is a
  /// link, a port or a copy engine.
  const HostEndpoint* host = nullptr;
  bool is_link = false;  ///< true: the resource is a link; false: the resource is a port, a copy
                         ///< engine or the threads of a host
  bool staged = false;  ///< true: a message enters this hop only after the whole message has passed
                        ///< the previous hop
  bool received = false;         ///< only if Path::away is not 0: true if the hop belongs to the
                                 ///< receiver's worker
  std::uint16_t parents = 0;     ///< number of previous hops; 0: this is the first hop after a
                                 ///< sender
  std::uint16_t first_next = 0;  ///< index into Path::next
  std::uint16_t nexts = 0;       ///< number of next hops; 0: this is the last hop before a receiver
  std::uint16_t receiver = 0;    ///< index of the receiver, if `nexts` is 0
  /// True if, while a slow message arrives, other messages can use the gaps between its packets.
  /// Set only on network segments on which threads of hosts move the bytes.
  bool interleaves = false;

  /// Returns the link that this hop occupies; -1 if the hop is not a link. Links have the same
  /// numbers as their resources.
  [[nodiscard]] LinkId link() const { return is_link ? resource : -1; }
};

/// The path of a message. A path from one sender to one receiver is a chain of hops. A multicast is
/// a tree, and a reduction in a switch is a tree in the reverse direction.
struct Path {
  std::vector<PathHop> hops;
  std::vector<std::uint16_t> next;   ///< see PathHop::first_next; empty for chains
  std::vector<std::uint16_t> roots;  ///< indices of the first hops after senders; empty for chains
  bool chain = true;                 ///< true: the path is a chain, so each hop is followed by the
                                     ///< next one in `hops`
  bool by_hosts = false;             ///< true: at least one hop represents the threads of a host
  std::int32_t away = 0;             ///< see PathTable::unicast()

  /// The sum of the latencies along the path to receiver 0. Together with `segments`, this sum
  /// determines the time that a message needs without contention. If a message takes longer, the
  /// difference is due to queueing.
  Time latency;
  /// A part of the path. A new segment begins where the message is staged.
  struct PathSegment {
    Bandwidth narrowest;  ///< rate of the narrowest link or, if it is lower, the rate limit of one
                          ///< connection
    LinkKind kind = LinkKind::kPcie;
    LinkId link = -1;
  };
  std::vector<PathSegment> segments;

  /// Returns the first hop of a path from one sender. REQUIRES: the path has hops.
  [[nodiscard]] const PathHop& first() const { return chain ? hops.front() : hops[roots.front()]; }

  /// Returns the time that a message needs without contention, in addition to latency and transfer
  /// time, because threads of hosts move its bytes.
  [[nodiscard]] Time of_hosts(Bytes bytes) const {
    return by_hosts ? time_of_hosts(bytes) : Time();
  }

  /// Only for the model `ideal`: all links that carry the message. With `ideal`, links are not hops
  /// of the path, but their load is still recorded.
  std::vector<LinkId> silent_links;

 private:
  [[nodiscard]] Time time_of_hosts(Bytes bytes) const;
};

/// Computes the paths of messages and caches them. The network model determines the hops of a path.
/// For `fifo`, the hops are all links of the route and, if a copy engine moves the bytes, this copy
/// engine. For `fair`, the hops are only the links; transfers of one copy engine share the links of
/// the engine's device. For `ideal`, the hops are only the send port and the receive port, with the
/// rate of the narrowest link.
class PathTable {
 public:
  PathTable(const Cluster& cluster, NetworkModel model);

  /// Returns the path from one device to another. `engine` is the kind of engine that executes the
  /// lane. If `away` is not 0, the receiver is the device that corresponds to `to` on the worker
  /// `away` positions after the sender's worker (see Peer::away).
  /// REQUIRES: there is a route between the devices, as in every scenario without problems.
  std::int32_t unicast(PartId from, PartId to, Staging staging, Engine engine,
                       std::int32_t away = 0);
  /// Returns the same path as unicast(), but as a value that is not cached.
  [[nodiscard]] Path make_unicast(PartId from, PartId to, Staging staging, Engine engine,
                                  std::int32_t away = 0) const;
  /// Returns the path from one device to several devices. REQUIRES: all devices are in one worker.
  std::int32_t multicast(PartId from, const std::vector<PartId>& to);
  /// Returns the path of messages from several devices, which a switch adds up, to one of these
  /// devices.
  /// REQUIRES: all devices are in one worker, whose machine has a switch that supports reduction.
  std::int32_t switch_reduce(const std::vector<PartId>& from, PartId to);

  /// Returns a path with the given link as its only hop; the path has no latency.
  std::int32_t link_alone(LinkId link);

  [[nodiscard]] const Path& path(std::int32_t id) const { return paths_[id]; }
  /// The number of resources. All resource ids are below this number.
  [[nodiscard]] ResourceId resources() const { return resources_; }

 private:
  [[nodiscard]] ResourceId first_part(std::int64_t worker) const;
  [[nodiscard]] ResourceId port(PartId part, LinkKind kind, bool sends) const;
  [[nodiscard]] ResourceId copy_engine(PartId gpu, bool out) const;
  void append_fifo(const std::vector<Hop>& route, Engine engine, std::vector<PathHop>& hops) const;
  [[nodiscard]] PathHop host_hop(PartId part, LinkKind slot, bool sends,
                                 const HostEndpoint& cost) const;
  [[nodiscard]] bool has_hosts(const std::vector<Hop>& segment) const;
  void append_hosts(const std::vector<Hop>& route, bool sends, std::vector<PathHop>& hops) const;
  void append_ideal(const std::vector<Hop>& route, std::vector<PathHop>& hops) const;
  std::vector<PathHop> hops_of(const std::vector<Hop>& route, Engine engine) const;
  void mark_received(const std::vector<Hop>& route, std::vector<PathHop>& hops) const;
  [[nodiscard]] Bandwidth rate_of(const Hop& link) const;
  std::vector<Hop> local_route(PartId from, std::int32_t to_part) const;
  void describe(Path& path, const std::vector<Hop>& route) const;
  void load_silently(Path& path, const std::vector<Hop>& route) const;
  [[nodiscard]] static Path checked(Path path);
  std::int32_t keep(Path path);

  const Cluster& cluster_;
  NetworkModel model_;
  std::vector<ResourceId> first_part_of_group_;
  ResourceId engines_ = 0;   ///< number of copy engines of each device or card
  ResourceId per_part_ = 0;  ///< number of copy engines and ports of each device or card
  ResourceId resources_ = 0;
  std::vector<Path> paths_;
  struct Unicast {
    PartId from, to;
    Staging staging;
    Engine engine;
    std::int32_t away;
    std::int32_t path;
  };
  FlatIndex unicast_index_;
  std::vector<Unicast> unicasts_;
  std::unordered_map<LinkId, std::int32_t> links_alone_;
  std::map<std::pair<PartId, std::vector<PartId>>, std::int32_t> multicasts_;
  std::map<std::pair<PartId, std::vector<PartId>>, std::int32_t> reductions_;
};

}  // namespace tutti::core
