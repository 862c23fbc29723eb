#include "core/strategy/collective_bound.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/strategy/cut_capacity.h"

namespace tutti::core {
namespace {

/// The amounts of data that must leave and enter a set of ranks. The unit is the collective's size
/// divided by the number of ranks.
struct Crossing {
  std::int64_t out = 0;
  std::int64_t in = 0;
};

/// Returns the data that must leave and enter a set of `inside` out of `ranks` ranks. `has_root` is
/// true if the root is in the set.
Crossing crossing(CollectiveKind kind, std::int64_t ranks, std::int64_t inside, bool has_root) {
  const std::int64_t outside = ranks - inside;
  if (inside == 0 || outside == 0) return {};
  switch (kind) {
    case CollectiveKind::kAllReduce:
    case CollectiveKind::kSendReceive: return {ranks, ranks};
    case CollectiveKind::kReduceScatter: return {outside, inside};
    case CollectiveKind::kAllGather: return {inside, outside};
    case CollectiveKind::kBroadcast: return has_root ? Crossing{ranks, 0} : Crossing{0, ranks};
    case CollectiveKind::kReduce: return has_root ? Crossing{0, ranks} : Crossing{ranks, 0};
    // Each rank inside sends one block to every rank outside, and vice versa.
    case CollectiveKind::kAllToAll: return {inside * outside, inside * outside};
    case CollectiveKind::kGather: return has_root ? Crossing{0, outside} : Crossing{inside, 0};
    case CollectiveKind::kScatter: return has_root ? Crossing{outside, 0} : Crossing{0, inside};
  }
  return {};
}

class CutSearch {
 public:
  CutSearch(const Cluster& cluster, CollectiveKind kind, Rank root, Bytes bytes)
      : cluster_(cluster), kind_(kind), root_(root), bytes_(bytes) {}

  Bound search(NetworkModel model) {
    if (cluster_.replicas() > 1 && bytes_ > Bytes()) {
      std::int64_t worker = 0;
      for (std::size_t g = 0; g < cluster_.replica_groups(); ++g) {
        const std::int64_t count = cluster_.groups()[g].count;
        group(g, worker, count);
        worker += count;
      }
      if (cluster_.fabric() && model != NetworkModel::kIdeal) domains();
    }
    if (best_.reason.empty()) best_.reason = "there is nothing to send";
    return best_;
  }

 private:
  /// All workers of a group are identical, except that one of them may have the root of the
  /// collective.
  void group(std::size_t g, std::int64_t first, std::int64_t count) {
    const Machine& machine = *cluster_.groups()[g].machine;
    const std::int64_t per_worker = cluster_.replicas_per_worker();
    const std::int64_t of_root = root_ / per_worker;
    std::vector<std::int64_t> workers{first};
    if (of_root > first && of_root < first + count) workers.push_back(of_root);
    if (of_root == first && count > 1) workers.push_back(first + 1);
    const std::vector<int>& devices = machine.gpus().empty() ? machine.cpus() : machine.gpus();
    for (const std::int64_t worker : workers) {
      for (std::int64_t i = 0; i < per_worker; ++i) {
        const int part = devices[i];
        Capacity out = links_of(machine, part, true);
        Capacity in = links_of(machine, part, false);
        if (out.bytes_per_second == 0 && cluster_.workers() > 1) out = ports_of(cluster_, machine);
        if (in.bytes_per_second == 0 && cluster_.workers() > 1) in = ports_of(cluster_, machine);
        cut(worker * per_worker + i, 1, out, in, machine.parts()[part].name);
      }
      if (cluster_.workers() == 1) continue;
      const Capacity ports = ports_of(cluster_, machine);
      cut(worker * per_worker, per_worker, ports, ports, "the network cards of " + machine.name());
    }
  }

  void domains() {
    const Fabric::Domains domains = cluster_.fabric()->domains();
    if (domains.count < 2) return;
    Capacity outward;
    outward.add(domains.outward, domains.latency + cluster_.network()->latency);
    const std::int64_t per_worker = cluster_.replicas_per_worker();
    for (std::int64_t d = 0; d < domains.count; ++d) {
      const std::int64_t first = d * domains.workers * per_worker;
      const std::int64_t size = std::min(domains.workers * per_worker, cluster_.replicas() - first);
      if (size <= 0) break;
      const bool special = first <= root_ && root_ < first + size;
      if (d > 1 && !special && d + 1 < domains.count) continue;  // identical to the part before
      cut(first, size, outward, outward, "a part of the " + cluster_.fabric()->describe());
    }
  }

  void cut(std::int64_t first, std::int64_t size, const Capacity& out, const Capacity& in,
           const std::string& name) {
    const std::int64_t ranks = cluster_.replicas();
    const Crossing crosses = crossing(kind_, ranks, size, first <= root_ && root_ < first + size);
    consider(crosses.out, out, "leave " + name);
    consider(crosses.in, in, "reach " + name);
  }

  void consider(std::int64_t parts, const Capacity& capacity, const std::string& what) {
    if (parts == 0 || capacity.bytes_per_second == 0) return;
    // The number of bytes that must cross the cut, rounded down to whole bytes.
    const Wide crossing = static_cast<Wide>(bytes_.count()) * static_cast<Wide>(parts) /
                          static_cast<Wide>(cluster_.replicas());
    const Bytes bytes(static_cast<std::int64_t>(crossing));
    const Time latency = capacity.latency == kNever ? Time() : capacity.latency;
    const Time time = time_for(bytes, 1, capacity) + latency;
    if (time <= best_.time) return;
    best_ = {time, fmt::format("{:.1f} MB must {}", static_cast<double>(bytes.count()) / 1e6, what),
             latency};
  }

  const Cluster& cluster_;
  CollectiveKind kind_;
  Rank root_;
  Bytes bytes_;
  Bound best_;
};

}  // namespace

Bound collective_bound(const Cluster& cluster, CollectiveKind kind, Rank root, Bytes bytes,
                       NetworkModel model, bool network_adds) {
  if (kind == CollectiveKind::kAllReduce)
    return all_reduce_bound(cluster, bytes, model, network_adds);
  return CutSearch(cluster, kind, root, bytes).search(model);
}

}  // namespace tutti::core
