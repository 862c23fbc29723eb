#include "core/cluster/machine.h"

#include <algorithm>
#include <limits>
#include <set>
#include <tuple>

#include "core/base/check.h"

namespace tutti::core {

std::string_view to_string(LinkKind kind) {
  switch (kind) {
    case LinkKind::kNvlink: return "nvlink";
    case LinkKind::kPcie: return "pcie";
    case LinkKind::kSocket: return "socket";
    case LinkKind::kNetwork: return "network";
  }
  return "";
}

Machine::Machine(std::string name, std::vector<Part> parts, std::vector<MachineLink> links,
                 std::vector<RingOrder> rings_inside, std::vector<RingOrder> rings_across)
    : name_(std::move(name)),
      parts_(std::move(parts)),
      links_(std::move(links)),
      rings_inside_(std::move(rings_inside)),
      rings_across_(std::move(rings_across)) {
  for (int i = 0; i < static_cast<int>(parts_.size()); ++i) {
    switch (parts_[i].kind) {
      case PartKind::kGpu: gpus_.push_back(i); break;
      case PartKind::kCpu: cpus_.push_back(i); break;
      case PartKind::kNic: nics_.push_back(i); break;
      case PartKind::kPcieSwitch:
      case PartKind::kNvswitch: break;
    }
  }
  routes_.resize(parts_.size());
  for (int i = 0; i < static_cast<int>(parts_.size()); ++i) find_routes(i);
  route_through_hosts();
  assign_nics();
}

const Machine::Route& Machine::route_entry(int from, int to) const { return routes_[from][to]; }

std::optional<std::span<const int>> Machine::route(int from, int to) const {
  const Route& route = route_entry(from, to);
  if (!route.exists) return std::nullopt;
  return std::span<const int>(route.links);
}

/// Two GPUs with an NVLink between them always use it, even if a path over PCIe is wider. SOURCE:
/// NVIDIA/nccl src/graph/paths.cc, ncclTopoSetPaths (a path is only replaced by a path with fewer
/// links).
///
/// For all other parts, handles the bandwidths of links in descending order. For each bandwidth,
/// finds the parts that are reachable over links of at least this bandwidth. If a part has several
/// such routes, the order of preference is: fewest links, lowest latency, first links in the file.
/// A part keeps the first route that is found for it.
void Machine::find_routes(int from) {
  const std::size_t count = parts_.size();
  std::vector<Route>& routes = routes_[from];
  routes.resize(count);
  routes[from].exists = true;
  for (int l = 0; l < static_cast<int>(links_.size()); ++l) {
    const MachineLink& link = links_[l];
    if (link.from != from || link.kind != LinkKind::kNvlink) continue;
    if (parts_[from].kind != PartKind::kGpu || parts_[link.to].kind != PartKind::kGpu) continue;
    Route& direct = routes[link.to];
    if (!direct.exists || links_[direct.links.front()].bandwidth < link.bandwidth)
      direct = {true, {l}};
  }

  std::set<Bandwidth, std::greater<>> widths;
  for (const MachineLink& link : links_) widths.insert(link.bandwidth);
  std::vector<std::vector<int>> leaving(count);
  for (int l = 0; l < static_cast<int>(links_.size()); ++l) {
    leaving[links_[l].from].push_back(l);
  }

  for (const Bandwidth width : widths) {
    if (std::all_of(routes.begin(), routes.end(), [](const Route& r) { return r.exists; })) break;
    using Cost = std::tuple<int, Time, std::vector<int>>;  // links, latency, the links themselves
    std::vector<std::optional<Cost>> best(count);
    std::set<std::pair<Cost, int>> open;
    best[from] = Cost{};
    open.insert({Cost{}, from});
    while (!open.empty()) {
      const auto [cost, part] = *open.begin();
      open.erase(open.begin());
      if (cost != best[part]) continue;
      const PartKind kind = parts_[part].kind;
      if (part != from && (kind == PartKind::kGpu || kind == PartKind::kNic)) continue;
      for (const int l : leaving[part]) {
        const MachineLink& link = links_[l];
        if (link.bandwidth < width) continue;
        Cost next = cost;
        std::get<0>(next) += 1;
        std::get<1>(next) += link.latency;
        std::get<2>(next).push_back(l);
        std::optional<Cost>& known = best[link.to];
        if (known && *known <= next) continue;
        known = next;
        open.insert({std::move(next), link.to});
      }
    }
    for (std::size_t to = 0; to < count; ++to) {
      if (routes[to].exists || !best[to]) continue;
      routes[to] = {true, std::get<2>(*best[to])};
    }
  }
}

/// Returns the CPU with the shortest route from a part; -1 if there is none.
int Machine::nearest_cpu(int part) const {
  int nearest = -1;
  for (const int cpu : cpus_) {
    const Route& route = route_entry(part, cpu);
    if (!route.exists) continue;
    if (nearest < 0 || route.links.size() < route_entry(part, nearest).links.size()) nearest = cpu;
  }
  return nearest;
}

/// Leads the PCIe routes between GPUs without peer access through the CPU that is nearest to the
/// sender. Routes over NVLinks alone, and routes that already pass a CPU, remain.
void Machine::route_through_hosts() {
  const auto is_cpu = [this](int link) { return parts_[links_[link].to].kind == PartKind::kCpu; };
  const auto is_pcie = [this](int link) { return links_[link].kind == LinkKind::kPcie; };
  for (const int from : gpus_) {
    const int cpu = nearest_cpu(from);
    if (cpu < 0) continue;
    for (const int to : gpus_) {
      if (from == to || (parts_[from].peer_access && parts_[to].peer_access)) continue;
      Route& route = routes_[from][to];
      if (std::none_of(route.links.begin(), route.links.end(), is_pcie) ||
          std::any_of(route.links.begin(), route.links.end(), is_cpu) || !routes_[cpu][to].exists)
        continue;
      route.links = routes_[from][cpu].links;
      const std::vector<int>& back = routes_[cpu][to].links;
      route.links.insert(route.links.end(), back.begin(), back.end());
    }
  }
}

Machine::ToHost Machine::to_host(int gpus) const {
  std::map<int, int> senders;  // by link
  for (int g = 0; g < gpus; ++g) {
    const int cpu = nearest_cpu(gpus_[g]);
    if (cpu < 0) return {};
    for (const int link : route_entry(gpus_[g], cpu).links) {
      if (links_[link].kind == LinkKind::kPcie) ++senders[link];
    }
  }
  ToHost narrowest;
  for (const auto& [link, count] : senders) {
    const Bandwidth rate(links_[link].bandwidth.count() / count);
    if (narrowest.of_gpu.count() == 0 || rate < narrowest.of_gpu) narrowest = {rate, count};
  }
  return narrowest;
}

void Machine::assign_nics() {
  nearest_nic_.assign(parts_.size(), -1);
  std::map<std::pair<PartKind, std::vector<int>>, std::size_t>
      taken;  // how often each set of equally near cards was assigned
  for (int device = 0; device < static_cast<int>(parts_.size()); ++device) {
    if (!parts_[device].is_device()) continue;
    using Distance = std::tuple<std::int64_t, std::size_t, Time>;  // -width, links, latency
    std::optional<Distance> least;
    std::vector<int> equals;
    for (int n = 0; n < static_cast<int>(nics_.size()); ++n) {
      const Route& route = route_entry(device, nics_[n]);
      if (!route.exists || route.links.empty()) continue;
      Bandwidth width{std::numeric_limits<std::int64_t>::max()};
      Time latency;
      for (const int l : route.links) {
        width = std::min(width, links_[l].bandwidth);
        latency += links_[l].latency;
      }
      const Distance distance{-width.count(), route.links.size(), latency};
      if (!least || distance < *least) {
        least = distance;
        equals.clear();
      }
      if (distance == *least) equals.push_back(n);
    }
    if (equals.empty()) continue;
    const PartKind kind = parts_[device].kind;
    nearest_nic_[device] = equals[taken[{kind, equals}]++ % equals.size()];
  }
}

}  // namespace tutti::core
