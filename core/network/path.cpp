#include "core/network/path.h"

#include <algorithm>
#include <limits>

#include "core/base/check.h"

namespace tutti::core {
namespace {

/// The number of ports of a device or card: one send port and one receive port for each kind of
/// link.
constexpr ResourceId kPorts = 2 * kLinkKinds;

bool crosses_network(const std::vector<Hop>& segment) {
  return std::any_of(segment.begin(), segment.end(),
                     [](const Hop& hop) { return hop.kind == LinkKind::kNetwork; });
}

/// Divides a route into segments, which end where messages are staged in host memory.
std::vector<std::vector<Hop>> stretches_of(const std::vector<Hop>& route) {
  std::vector<std::vector<Hop>> segments;
  for (const Hop& hop : route) {
    if (segments.empty() || hop.staged) segments.emplace_back();
    segments.back().push_back(hop);
  }
  return segments;
}

const Hop& narrowest_of(const std::vector<Hop>& segment) {
  return *std::min_element(segment.begin(), segment.end(),
                           [](const Hop& a, const Hop& b) { return a.bandwidth < b.bandwidth; });
}

/// Makes a chain: each hop precedes the next one in `hops`.
void chain(Path& path, std::vector<PathHop> hops) {
  path.hops = std::move(hops);
  for (std::size_t i = 0; i + 1 < path.hops.size(); ++i) {
    path.hops[i].nexts = 1;
    path.hops[i + 1].parents = 1;
  }
}

}  // namespace

Time Path::time_of_hosts(Bytes bytes) const {
  Time all, slowest_link, slowest_host;
  for (const PathHop& hop : hops) {
    if (hop.host == nullptr) {
      if (hop.interleaves) slowest_link = std::max(slowest_link, transfer_time(bytes, hop.rate));
      continue;
    }
    all += hop.host->per_message;
    if (hop.host->whole) {
      all += hop.host->moving(bytes);
    } else {
      slowest_host = std::max(slowest_host, hop.host->moving(bytes));
    }
  }
  // Hosts whose `whole` is false work while the links transfer data, so only the slower one of host
  // and link counts.
  return all + std::max(Time(), slowest_host - slowest_link);
}

PathTable::PathTable(const Cluster& cluster, NetworkModel model)
    : cluster_(cluster), model_(model) {
  // Simulations keep state per resource, so only the resources that the model uses get numbers.
  const bool hosts = cluster.network() && cluster.network()->host;
  engines_ = model == NetworkModel::kFifo ? 2 : 0;
  per_part_ = engines_ + (model == NetworkModel::kIdeal || hosts ? kPorts : 0);
  resources_ = cluster.links();
  for (const core::WorkerGroup& group : cluster.groups()) {
    first_part_of_group_.push_back(resources_);
    resources_ += group.count * static_cast<ResourceId>(group.machine->parts().size()) * per_part_;
  }
}

ResourceId PathTable::first_part(std::int64_t worker) const {
  std::int64_t before = 0;
  for (std::size_t g = 0; g < cluster_.groups().size(); ++g) {
    const core::WorkerGroup& group = cluster_.groups()[g];
    if (worker < before + group.count) {
      return first_part_of_group_[g] +
             (worker - before) * static_cast<ResourceId>(group.machine->parts().size()) * per_part_;
    }
    before += group.count;
  }
  TUTTI_CHECK(false, "no worker {}", worker);
  return 0;
}

ResourceId PathTable::port(PartId part, LinkKind kind, bool sends) const {
  return first_part(part.worker) + part.part * per_part_ + engines_ +
         2 * static_cast<ResourceId>(kind) + (sends ? 0 : 1);
}

ResourceId PathTable::copy_engine(PartId gpu, bool out) const {
  return first_part(gpu.worker) + gpu.part * per_part_ + (out ? 0 : 1);
}

/// Appends a segment. Inside a worker, a segment that begins or ends at a GPU uses this GPU's copy
/// engine, unless a kernel moves the data.
void PathTable::append_fifo(const std::vector<Hop>& segment, Engine engine,
                            std::vector<PathHop>& hops) const {
  const bool staged = segment.front().staged;
  if (model_ == NetworkModel::kFifo && engine != Engine::kKernel && !crosses_network(segment)) {
    const PartId from = segment.front().from;
    const PartId to = segment.back().to;
    const bool out = cluster_.part(from).kind == PartKind::kGpu;
    if (out || cluster_.part(to).kind == PartKind::kGpu) {
      PathHop dma;
      dma.resource = copy_engine(out ? from : to, out);
      dma.rate = segment.front().bandwidth;
      dma.staged = staged;
      hops.push_back(dma);
    }
  }
  for (const Hop& link : segment) {
    PathHop hop;
    hop.resource = link.link;
    hop.rate = rate_of(link);
    hop.latency = link.latency;
    hop.is_link = true;
    hop.staged = link.staged && (hops.empty() || hops.back().is_link);
    hops.push_back(hop);
  }
}

bool PathTable::has_hosts(const std::vector<Hop>& segment) const {
  return cluster_.network() && cluster_.network()->host && crosses_network(segment);
}

/// Returns the hop that represents the threads of a host. The threads use the resource number of a
/// port, because no model except `ideal` uses ports otherwise.
PathHop PathTable::host_hop(PartId part, LinkKind slot, bool sends,
                            const HostEndpoint& cost) const {
  PathHop hop;
  hop.resource = port(part, slot, sends);
  const Bandwidth alone = cost.split ? cost.rate() : cost.thread;
  hop.rate = alone.count() > 0 ? alone : Bandwidth(std::numeric_limits<std::int64_t>::max());
  hop.host = &cost;
  hop.staged = cost.whole;
  return hop;
}

/// Appends the hops for the threads at the sending or the receiving end of `route`. The threads
/// move data between the message's buffer and the network.
void PathTable::append_hosts(const std::vector<Hop>& route, bool sends,
                             std::vector<PathHop>& hops) const {
  const HostTransport& transport = *cluster_.network()->host;
  const HostEndpoint& cost = sends ? transport.send : transport.receive;
  const PartId device = sends ? route.front().from : route.back().to;
  const PartId host = cluster_.host(device.worker);
  if (!sends && transport.host.costs())
    hops.push_back(host_hop(host, LinkKind::kSocket, sends, transport.host));
  if (cost.costs())
    hops.push_back(
        host_hop(transport.process_per_device ? device : host, LinkKind::kNetwork, sends, cost));
  if (sends && transport.host.costs())
    hops.push_back(host_hop(host, LinkKind::kSocket, sends, transport.host));
}

/// Appends only two hops: the send port and the receive port of the segment. The ports belong to
/// the network cards if the segment crosses the network, and otherwise to the devices.
void PathTable::append_ideal(const std::vector<Hop>& segment, std::vector<PathHop>& hops) const {
  PathHop send, receive;
  for (const Hop& link : segment) send.latency += link.latency;
  send.rate = receive.rate = narrowest_of(segment).bandwidth;
  for (const Hop& link : segment) send.rate = receive.rate = std::min(send.rate, rate_of(link));
  send.staged = segment.front().staged;
  send.resource = port(segment.front().from, segment.front().kind, true);
  receive.resource = port(segment.back().to, segment.back().kind, false);
  for (const Hop& link : segment) {
    if (link.kind != LinkKind::kNetwork) continue;
    if (link.from.part >= 0) send.resource = port(link.from, LinkKind::kNetwork, true);
    if (link.to.part >= 0) receive.resource = port(link.to, LinkKind::kNetwork, false);
  }
  hops.push_back(send);
  hops.push_back(receive);
}

/// Returns the rate of one message on a link without other messages. NCCL splits a message over its
/// sockets, and the limit of the network's connections applies to each socket.
Bandwidth PathTable::rate_of(const Hop& link) const {
  const auto& network = cluster_.network();
  if (link.kind != LinkKind::kNetwork || !network || !network->connection) return link.bandwidth;
  const int sockets = network->host ? network->host->sockets() : 1;
  if (link.bandwidth.count() / sockets <= network->connection->count()) return link.bandwidth;
  return Bandwidth(network->connection->count() * sockets);
}

std::vector<PathHop> PathTable::hops_of(const std::vector<Hop>& route, Engine engine) const {
  std::vector<PathHop> hops;
  for (const std::vector<Hop>& segment : stretches_of(route)) {
    if (model_ == NetworkModel::kIdeal) {
      append_ideal(segment, hops);
      continue;
    }
    const std::size_t first = hops.size();
    const bool hosts = has_hosts(segment);
    if (hosts) append_hosts(route, true, hops);
    append_fifo(segment, engine, hops);
    if (!hosts) continue;
    append_hosts(route, false, hops);
    // With streaming hosts, the sender's threads are the first hop of the segment.
    if (segment.front().staged) hops[first].staged = true;
    for (std::size_t i = first; i < hops.size(); ++i) hops[i].interleaves = true;
  }
  return hops;
}

/// Finds the port through which the message leaves the network. Marks this hop and all later hops
/// as hops of the receiver's worker.
void PathTable::mark_received(const std::vector<Hop>& route, std::vector<PathHop>& hops) const {
  const auto down =
      std::find_if(route.begin(), route.end(), [](const Hop& hop) { return hop.from.part < 0; });
  const ResourceId port_down = model_ == NetworkModel::kIdeal
                                   ? port(down->to, LinkKind::kNetwork, false)
                                   : ResourceId{down->link};
  auto hop = std::find_if(hops.begin(), hops.end(),
                          [&](const PathHop& h) { return h.resource == port_down; });
  for (; hop != hops.end(); ++hop) hop->received = true;
}

void PathTable::describe(Path& path, const std::vector<Hop>& route) const {
  for (const std::vector<Hop>& segment : stretches_of(route)) {
    const Hop& narrowest = narrowest_of(segment);
    path.segments.push_back({narrowest.bandwidth, narrowest.kind, narrowest.link});
    for (const Hop& hop : segment) {
      path.latency += hop.latency;
      if (rate_of(hop) < path.segments.back().narrowest)
        path.segments.back() = {rate_of(hop), hop.kind, hop.link};
    }
  }
}

void PathTable::load_silently(Path& path, const std::vector<Hop>& route) const {
  if (model_ != NetworkModel::kIdeal) return;
  std::ptrdiff_t first = 0;
  for (const Hop& hop : route) {
    // Links of another worker at the distance `away` have the numbers of this worker's links, but
    // are different links.
    if (path.away != 0 && hop.from.part < 0) first = std::ssize(path.silent_links);
    const auto begin = path.silent_links.begin() + first;
    if (std::find(begin, path.silent_links.end(), hop.link) == path.silent_links.end())
      path.silent_links.push_back(hop.link);
  }
}

Path PathTable::checked(Path path) {
  TUTTI_CHECK(path.hops.size() < 65'000, "a path of {} hops", path.hops.size());
  path.by_hosts = std::any_of(path.hops.begin(), path.hops.end(),
                              [](const PathHop& hop) { return hop.host != nullptr; });
  return path;
}

std::int32_t PathTable::keep(Path path) {
  paths_.push_back(checked(std::move(path)));
  return static_cast<std::int32_t>(paths_.size()) - 1;
}

std::int32_t PathTable::unicast(PartId from, PartId to, Staging staging, Engine engine,
                                std::int32_t away) {
  const auto packed = [](std::int64_t high, std::int64_t low) {
    return static_cast<std::uint64_t>(high) << 32 ^ static_cast<std::uint64_t>(low);
  };
  const std::uint64_t hash =
      FlatIndex::hash_of(packed(from.worker, to.worker),
                         packed(std::int64_t{from.part} << 12 ^ to.part,
                                std::int64_t{away} << 4 ^ static_cast<std::int64_t>(staging) << 2 ^
                                    static_cast<std::int64_t>(engine)));
  const auto [number, fresh] = unicast_index_.find_or_add(hash, [&](std::int32_t n) {
    const Unicast& known = unicasts_[n];
    return known.from == from && known.to == to && known.staging == staging &&
           known.engine == engine && known.away == away;
  });
  if (!fresh) return unicasts_[number].path;
  paths_.push_back(make_unicast(from, to, staging, engine, away));
  const auto id = static_cast<std::int32_t>(paths_.size()) - 1;
  unicasts_.push_back({from, to, staging, engine, away, id});
  return id;
}

Path PathTable::make_unicast(PartId from, PartId to, Staging staging, Engine engine,
                             std::int32_t away) const {
  std::vector<Hop> route;
  const bool reachable = away != 0 ? cluster_.append_route_across(from, to, staging, route)
                                   : cluster_.append_route(from, to, staging, route);
  TUTTI_CHECK(reachable, "no route from {} to {}", cluster_.part_name(from),
              cluster_.part_name(to));
  Path path;
  path.away = away;
  std::vector<PathHop> hops = hops_of(route, engine);
  if (away != 0) mark_received(route, hops);
  chain(path, std::move(hops));
  describe(path, route);
  load_silently(path, route);
  return checked(std::move(path));
}

std::int32_t PathTable::link_alone(LinkId link) {
  const auto [known, fresh] = links_alone_.try_emplace(link, 0);
  if (!fresh) return known->second;
  Hop hop = cluster_.link(link);
  hop.latency = Time();
  hop.staged = false;
  Path path;
  PathHop only;
  only.resource = link;
  only.rate = hop.bandwidth;
  only.is_link = true;
  chain(path, {only});
  describe(path, {hop});
  return known->second = keep(std::move(path));
}

std::vector<Hop> PathTable::local_route(PartId from, std::int32_t to_part) const {
  std::vector<Hop> route;
  const bool reachable =
      cluster_.append_route(from, {from.worker, to_part}, Staging::kDirect, route);
  TUTTI_CHECK(reachable, "no route from {} to part {}", cluster_.part_name(from), to_part);
  return route;
}

/// Merges the routes to all receivers into a tree: two hops become one if they have the same
/// resource and the same previous hops.
std::int32_t PathTable::multicast(PartId from, const std::vector<PartId>& to) {
  const auto [known, fresh] = multicasts_.try_emplace({from, to}, 0);
  if (!fresh) return known->second;
  Path path;
  path.chain = false;
  std::vector<std::vector<std::uint16_t>> children;
  std::vector<std::uint16_t> roots;
  for (std::size_t r = 0; r < to.size(); ++r) {
    TUTTI_CHECK(to[r].worker == from.worker, "multicast from {} to {}", cluster_.part_name(from),
                cluster_.part_name(to[r]));
    const std::vector<Hop> route = local_route(from, to[r].part);
    if (r == 0) describe(path, route);
    load_silently(path, route);
    std::vector<std::uint16_t>* level = &roots;
    std::uint16_t at = 0;
    std::uint16_t parents = 0;
    for (const PathHop& hop : hops_of(route, Engine::kKernel)) {
      const auto shared = std::find_if(level->begin(), level->end(), [&](std::uint16_t i) {
        return path.hops[i].resource == hop.resource;
      });
      if (shared != level->end()) {
        at = *shared;
      } else {
        at = static_cast<std::uint16_t>(path.hops.size());
        level->push_back(at);
        path.hops.push_back(hop);
        path.hops.back().parents = parents;
        children.emplace_back();
      }
      parents = 1;
      level = &children[at];
    }
    path.hops[at].receiver = static_cast<std::uint16_t>(r);
  }
  path.roots = std::move(roots);
  for (std::size_t i = 0; i < children.size(); ++i) {
    path.hops[i].first_next = static_cast<std::uint16_t>(path.next.size());
    path.hops[i].nexts = static_cast<std::uint16_t>(children[i].size());
    path.next.insert(path.next.end(), children[i].begin(), children[i].end());
  }
  return known->second = keep(std::move(path));
}

/// Connects the paths from all senders to the switch with one path from the switch to the receiver.
/// The path from the switch begins when the data of all senders has arrived.
std::int32_t PathTable::switch_reduce(const std::vector<PartId>& from, PartId to) {
  const auto [known, fresh] = reductions_.try_emplace({to, from}, 0);
  if (!fresh) return known->second;
  const Machine& machine = cluster_.machine(to.worker);
  std::int32_t adder = -1;
  for (std::int32_t p = 0; p < static_cast<std::int32_t>(machine.parts().size()) && adder < 0;
       ++p) {
    if (machine.parts()[p].in_switch_reduction) adder = p;
  }
  TUTTI_CHECK(adder >= 0, "machine {} has no switch that can reduce", machine.name());

  const std::vector<Hop> down = local_route({to.worker, adder}, to.part);
  Path path;
  path.chain = false;
  std::vector<std::uint16_t> ends;
  for (const PartId sender : from) {
    TUTTI_CHECK(sender.worker == to.worker, "switch reduction from {} to {}",
                cluster_.part_name(sender), cluster_.part_name(to));
    std::vector<Hop> up = local_route(sender, adder);
    if (ends.empty()) {
      std::vector<Hop> whole = up;
      whole.insert(whole.end(), down.begin(), down.end());
      describe(path, whole);
    }
    load_silently(path, up);
    std::vector<PathHop> hops = hops_of(up, Engine::kKernel);
    if (model_ == NetworkModel::kIdeal)
      hops.resize(1);  // the switch's own port is never the
                       // bottleneck
    path.roots.push_back(static_cast<std::uint16_t>(path.hops.size()));
    for (std::size_t i = 0; i < hops.size(); ++i) {
      if (i > 0) {
        hops[i].parents = 1;
        path.hops.back().first_next = static_cast<std::uint16_t>(path.next.size());
        path.hops.back().nexts = 1;
        path.next.push_back(static_cast<std::uint16_t>(path.hops.size()));
      }
      path.hops.push_back(hops[i]);
    }
    ends.push_back(static_cast<std::uint16_t>(path.hops.size() - 1));
  }
  load_silently(path, down);
  std::vector<PathHop> hops = hops_of(down, Engine::kKernel);
  if (model_ == NetworkModel::kIdeal) {
    hops.front() = hops.back();
    hops.resize(1);
    // append_ideal() puts the latency of a segment between its two ports. In a reduction in a
    // switch, the latency belongs between the sender's port and the receiver's port.
    for (const Hop& hop : down) {
      for (const std::uint16_t end : ends) path.hops[end].latency += hop.latency;
    }
  }
  const auto first_down = static_cast<std::uint16_t>(path.hops.size());
  for (const std::uint16_t end : ends) {
    path.hops[end].first_next = static_cast<std::uint16_t>(path.next.size());
    path.hops[end].nexts = 1;
    path.next.push_back(first_down);
  }
  for (std::size_t i = 0; i < hops.size(); ++i) {
    hops[i].parents = i == 0 ? static_cast<std::uint16_t>(ends.size()) : 1;
    if (i > 0) {
      path.hops.back().first_next = static_cast<std::uint16_t>(path.next.size());
      path.hops.back().nexts = 1;
      path.next.push_back(static_cast<std::uint16_t>(path.hops.size()));
    }
    path.hops.push_back(hops[i]);
  }
  return known->second = keep(std::move(path));
}

}  // namespace tutti::core
