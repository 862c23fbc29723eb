#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/cluster/cluster.h"
#include "core/network/model.h"
#include "core/schedule/schedule.h"

namespace tutti::core {

/// Something that serves one message after the other: a link, a device's port, a copy engine.
using ResourceId = std::int64_t;

/// One resource on a message's way. A message enters it when its head has come through all hops that lead here.
struct PathHop {
  ResourceId resource = 0;
  Bandwidth rate;
  Time latency;                  ///< from here to the next hop, or to the receiver
  LinkId link = -1;              ///< whose load this is; -1: none (a port or an engine)
  bool staged = false;           ///< the message must be here as a whole first
  bool received = false;         ///< of a path to far away: the receiver's, no longer the sender's
  std::uint16_t parents = 0;     ///< hops that lead here; 0: the sender
  std::uint16_t first_next = 0;  ///< index into Path::next
  std::uint16_t nexts = 0;       ///< hops that follow; 0: a receiver
  std::uint16_t receiver = 0;    ///< which, if no hop follows
  /// A message that comes more slowly than the hop's rate does not hold it meanwhile: others pass in between, as packets of
  /// several connections do. Only where hosts' threads feed links.
  bool unheld = false;
  /// Not a link but threads of a host, and what they take (core/cluster/host_transport.h); `rate` is that of one thread, or a
  /// link's rate that does not limit. Null: a link, port or engine.
  const HostEndpoint* host = nullptr;
};

/// How a message gets from a sender to a receiver, or to several (multicast), or from several senders, added up on the
/// way, to one receiver (in-switch reduction): hops that form a chain, a tree, or a tree the other way about.
struct Path {
  std::vector<PathHop> hops;
  std::vector<std::uint16_t> next;
  std::vector<std::uint16_t> roots;  ///< hops that the sender (or senders) start with
  bool chain = true;
  std::int32_t away = 0;  ///< see PathBook::unicast()

  /// Along the way to receiver 0: all latencies, and per stretch without staging the narrowest link. An uncontended
  /// message takes their sum; whatever it takes beyond that it was queued.
  Time latency;
  struct Stretch {
    Bandwidth narrowest;  ///< or what a connection carries, if that is less
    LinkKind kind = LinkKind::kPcie;
    LinkId link = -1;
  };
  std::vector<Stretch> stretches;

  bool by_hosts = false;  ///< threads of hosts are on the way

  /// What hosts' threads take of a message that is alone, in addition to latency and transfer.
  [[nodiscard]] Time of_hosts(Bytes bytes) const { return by_hosts ? time_of_hosts(bytes) : Time(); }

  /// Links that carry the message although their hops are not modelled (ideal), each once.
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

  /// From one device to another, for a lane driven by `engine`. `away` 0: they are where they are; else `to` stands for the same
  /// device of a worker so far away (Peer::away). REQUIRES: there is a route (the scenario was checked).
  std::int32_t unicast(PartId from, PartId to, Staging staging, Engine engine, std::int32_t away = 0);
  /// From one device to many. REQUIRES: all in one worker.
  std::int32_t multicast(PartId from, const std::vector<PartId>& to);
  /// From many devices, added up in a switch, to one of them. REQUIRES: all in one worker, joined by a switch that can.
  std::int32_t switch_reduce(const std::vector<PartId>& from, PartId to);

  /// One link and nothing else, without its latency.
  std::int32_t link_alone(LinkId link);

  [[nodiscard]] const Path& path(std::int32_t id) const { return paths_[static_cast<std::size_t>(id)]; }
  /// Resource numbers are below this.
  [[nodiscard]] ResourceId resources() const { return resources_; }

 private:
  [[nodiscard]] ResourceId first_part(std::int64_t worker) const;
  [[nodiscard]] ResourceId port(PartId part, LinkKind kind, bool sends) const;
  [[nodiscard]] ResourceId copy_engine(PartId gpu, bool out) const;
  void append_fifo(const std::vector<Hop>& route, Engine engine, std::vector<PathHop>& hops) const;
  [[nodiscard]] PathHop host_hop(PartId part, LinkKind slot, bool sends, const HostEndpoint& cost) const;
  [[nodiscard]] bool has_hosts(const std::vector<Hop>& stretch) const;
  void append_hosts(const std::vector<Hop>& route, bool sends, std::vector<PathHop>& hops) const;
  void append_ideal(const std::vector<Hop>& route, std::vector<PathHop>& hops) const;
  std::vector<PathHop> hops_of(const std::vector<Hop>& route, Engine engine) const;
  void mark_received(const std::vector<Hop>& route, std::vector<PathHop>& hops) const;
  [[nodiscard]] Bandwidth rate_of(const Hop& link) const;
  std::vector<Hop> local_route(PartId from, std::int32_t to_part) const;
  void describe(Path& path, const std::vector<Hop>& route) const;
  void load_silently(Path& path, const std::vector<Hop>& route) const;
  std::int32_t keep(Path path);

  const Cluster& cluster_;
  NetworkModel model_;
  std::vector<ResourceId> first_part_of_group_;
  ResourceId resources_ = 0;
  std::vector<Path> paths_;
  struct Key {
    PartId from, to;
    Staging staging;
    Engine engine;
    std::int32_t away;
    bool operator==(const Key&) const = default;
  };
  struct HashOfKey {
    std::size_t operator()(const Key& key) const;
  };
  std::unordered_map<Key, std::int32_t, HashOfKey> unicasts_;
  std::unordered_map<LinkId, std::int32_t> links_alone_;
  std::map<std::pair<PartId, std::vector<PartId>>, std::int32_t> multicasts_;
  std::map<std::pair<PartId, std::vector<PartId>>, std::int32_t> reductions_;
};

}  // namespace tutti::core
