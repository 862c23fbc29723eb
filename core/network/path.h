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

/// A resource that serves one message after the other: a link, a device's port, a copy engine.
using ResourceId = std::int64_t;

/// One resource on a message's path. A message enters it when its head has passed all hops that
/// lead here.
struct PathHop {
  ResourceId resource = 0;
  Bandwidth rate;
  Time latency;  ///< latency to the next hop, or to the receiver
  /// The costs of a host's threads (core/cluster/host_transport.h), if this hop is threads; `rate`
  /// is then that of one thread, or a link's rate that does not limit. Null: a link, port or
  /// engine.
  const HostEndpoint* host = nullptr;
  bool is_link = false;          ///< false for ports, engines and threads; see link()
  bool staged = false;           ///< the whole message must arrive here before it is sent on
  bool received = false;         ///< on a path to a distant worker: true if the hop belongs to the
                                 ///< receiver, not the sender
  std::uint16_t parents = 0;     ///< number of previous hops; 0: the sender precedes this one
  std::uint16_t first_next = 0;  ///< index into Path::next
  std::uint16_t nexts = 0;       ///< number of next hops; 0: the receiver follows
  std::uint16_t receiver = 0;    ///< index of the receiver, if no hop follows
  /// True if a message that arrives more slowly than the hop's rate does not occupy the hop
  /// exclusively: others pass in between, like packets of several connections. Only where threads
  /// of hosts feed links.
  bool unheld = false;

  /// Returns the link that counts the load, -1 if the hop is none. A link is the resource of the
  /// same number.
  [[nodiscard]] LinkId link() const { return is_link ? resource : -1; }
};

/// A message's path: from a sender to one receiver, to several (multicast), or from several
/// senders, reduced on the way, to one receiver (in-switch reduction). The hops form a chain, a
/// tree, or an inverted tree.
struct Path {
  std::vector<PathHop> hops;
  std::vector<std::uint16_t> next;   ///< see PathHop::first_next; empty for chains
  std::vector<std::uint16_t> roots;  ///< hops that start at a sender; empty for chains
  bool chain = true;                 ///< true if every hop leads to the next one in `hops`
  bool by_hosts = false;             ///< the path includes threads of hosts
  std::int32_t away = 0;             ///< see PathBook::unicast()

  /// The sum of the latencies along the path to receiver 0, and below the narrowest link of each
  /// stretch between stagings. They give the time of a message without contention; the rest of its
  /// time is queueing.
  Time latency;
  struct Stretch {
    Bandwidth narrowest;  ///< rate of the narrowest link, or the limit of a connection if that is
                          ///< lower
    LinkKind kind = LinkKind::kPcie;
    LinkId link = -1;
  };
  std::vector<Stretch> stretches;

  /// Returns the first hop at a sender. REQUIRES: the path has hops.
  [[nodiscard]] const PathHop& first() const { return chain ? hops.front() : hops[roots.front()]; }

  /// Returns the time that threads of hosts add to latency and transfer of a message without
  /// contention.
  [[nodiscard]] Time of_hosts(Bytes bytes) const {
    return by_hosts ? time_of_hosts(bytes) : Time();
  }

  /// Links that carry the message although their hops are not modelled (`ideal`), each once.
  std::vector<LinkId> silent_links;

 private:
  [[nodiscard]] Time time_of_hosts(Bytes bytes) const;
};

/// Makes paths and caches them. The hops of a path depend on the network model. `fifo`: the copy
/// engine that moves the bytes, then every link of the route. `fair`: the links only; the transfers
/// of an engine share the links of its device, and nothing else limits them. `ideal`: the ports at
/// both ends only, at the rate of the narrowest link.
class PathBook {
 public:
  PathBook(const Cluster& cluster, NetworkModel model);

  /// Returns the path from one device to another, for a lane driven by `engine`. With `away` other
  /// than 0, `to` stands for the same device of the worker at that distance (Peer::away). REQUIRES:
  /// there is a route (the scenario was checked).
  std::int32_t unicast(PartId from, PartId to, Staging staging, Engine engine,
                       std::int32_t away = 0);
  /// Like unicast(), but returns the path itself and does not keep it.
  [[nodiscard]] Path make_unicast(PartId from, PartId to, Staging staging, Engine engine,
                                  std::int32_t away = 0) const;
  /// Returns the path from one device to several. REQUIRES: all in one worker.
  std::int32_t multicast(PartId from, const std::vector<PartId>& to);
  /// Returns the path from several devices, reduced in a switch, to one of them. REQUIRES: all in
  /// one worker, joined by a switch that supports reduction.
  std::int32_t switch_reduce(const std::vector<PartId>& from, PartId to);

  /// Returns a path of only this link, without its latency.
  std::int32_t link_alone(LinkId link);

  [[nodiscard]] const Path& path(std::int32_t id) const {
    return paths_[static_cast<std::size_t>(id)];
  }
  /// The number of resources: all resource ids are below it.
  [[nodiscard]] ResourceId resources() const { return resources_; }

 private:
  [[nodiscard]] ResourceId first_part(std::int64_t worker) const;
  [[nodiscard]] ResourceId port(PartId part, LinkKind kind, bool sends) const;
  [[nodiscard]] ResourceId copy_engine(PartId gpu, bool out) const;
  void append_fifo(const std::vector<Hop>& route, Engine engine, std::vector<PathHop>& hops) const;
  [[nodiscard]] PathHop host_hop(PartId part, LinkKind slot, bool sends,
                                 const HostEndpoint& cost) const;
  [[nodiscard]] bool has_hosts(const std::vector<Hop>& stretch) const;
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
  ResourceId engines_ = 0;   ///< number of copy engines of each part
  ResourceId per_part_ = 0;  ///< number of engines and ports of each part
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
