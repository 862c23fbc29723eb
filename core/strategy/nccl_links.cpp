// Determines which links are busy, and for how long, during an NCCL collective with a predicted
// time. Class Routes divides a schedule into segments from device to device, including the detours
// of PXN and NVB. Class Adder adds the elements of each segment to the links on its path. Data for
// the same worker and data for other workers are added up separately. The sums of elements only
// give proportions. The time model gives the bytes of the busiest GPU and of the busiest node. The
// bytes on all other links are in proportion to the links' sums of elements. One object therefore
// applies to collectives of any size that use the same routes.
//
// The busy time of a link is at least the time for its bytes at its highest rate, and at most the
// time during which data moves. NcclLinkBound computes the same loads for two machines, to find
// predicted times that are too short for some link.

#include "core/strategy/nccl_links.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <span>
#include <utility>

#include "core/base/flat_index.h"
#include "core/strategy/nccl_rings.h"
#include "core/strategy/nccl_ways.h"

namespace tutti::core {
namespace {

/// Returns the bandwidth that no traffic on the link can exceed. For NVLink and PCIe, the result is
/// the nominal bandwidth if the machine file states a generation. The nominal bandwidth is higher
/// than the bandwidth that NCCL assumes (20 of 25 GB/s for a V100's NVLinks), because real systems
/// reach more than that (23 GB/s).
Bandwidth ceiling_of(const Hop& hop, const Cluster& cluster) {
  if (hop.kind == LinkKind::kNetwork) return hop.bandwidth;
  const std::size_t local = hop.link - cluster.first_link(hop.from.worker);
  return std::max(hop.bandwidth, cluster.machine(hop.from.worker).links()[local].nominal);
}

/// True for a link from a GPU to a switch or CPU, and for the port of a network card. Links between
/// two GPUs are not included: for them, the time model has only the total of a GPU's links to all
/// its neighbours.
bool is_of_device(const Hop& hop, const Cluster& cluster) {
  const auto is_gpu = [&](PartId id) {
    return id.part >= 0 && cluster.part(id).kind == PartKind::kGpu;
  };
  return hop.kind == LinkKind::kNetwork || is_gpu(hop.from) != is_gpu(hop.to);
}

bool by_nvlink(const Machine& machine, int from, int to) {
  const auto route = machine.route(from, to);
  return route && !route->empty() && std::all_of(route->begin(), route->end(), [&](int link) {
           return machine.links()[link].kind == LinkKind::kNvlink;
         });
}

/// Returns the bandwidth of the NVLink path between two GPUs in GB/s. If the path leads through
/// switches, the result is the bandwidth of its narrowest link. REQUIRES: by_nvlink().
double nvlink_width(const Machine& machine, int from, int to) {
  const std::span<const int> route = machine.route(from, to).value_or(std::span<const int>());
  double narrowest = 0;
  for (const int link : route) {
    const double width = to_gb_per_s(machine.links()[link].bandwidth);
    narrowest = narrowest > 0 ? std::min(narrowest, width) : width;
  }
  return narrowest;
}

/// Returns the bandwidth of the NVLink between two GPUs without a switch; 0 if there is none.
double direct_nvlink(const Machine& machine, int from, int to) {
  const auto route = machine.route(from, to);
  return from != to && route && route->size() == 1 && by_nvlink(machine, from, to)
             ? nvlink_width(machine, from, to)
             : 0;
}

/// Returns the ranks of `rank`'s worker, which are consecutive.
struct RanksOfWorker {
  Rank first = 0, count = 0;
};
RanksOfWorker ranks_of_worker(const Group& group, Rank ranks, Rank rank) {
  const std::int32_t worker = group.device(rank).worker;
  Rank first = rank, end = rank + 1;
  while (first > 0 && group.device(first - 1).worker == worker) --first;
  while (end < ranks && group.device(end).worker == worker) ++end;
  return {first, end - first};
}

/// True if NVLinks connect the ranks of the group's first worker in the same way as the first GPUs
/// of the machine, for which NCCL's search was executed.
bool is_like_first_gpus(const Group& group, Rank ranks) {
  const auto [first, count] = ranks_of_worker(group, ranks, 0);
  const Machine& machine = group.cluster().machine(group.device(first).worker);
  if (count > std::ssize(machine.gpus())) return false;
  for (Rank a = 0; a < count; ++a) {
    for (Rank b = 0; b < count; ++b) {
      if (direct_nvlink(machine, group.device(first + a).part, group.device(first + b).part) !=
          direct_nvlink(machine, machine.gpus()[a], machine.gpus()[b]))
        return false;
    }
  }
  return true;
}

/// True if the orders in which rings visit the GPUs of a worker are unknown, so that the loads of
/// NVLinks between pairs of GPUs do not follow from the schedule. NCCL's trees visit the GPUs in
/// orders of their own.
bool has_unknown_orders(const Collective& collective, const Group& group, Rank ranks) {
  if (!nccl::function_of(collective.kind)) return false;  // sends, whose peers are known
  const Rank of_worker = ranks_of_worker(group, ranks, 0).count;
  if (!known_nccl_channels(group.cluster(), of_worker, of_worker < ranks).empty()) return false;
  const nccl::CollectiveTime& time = *collective.nccl;
  if (time.choice && time.choice->algorithm == nccl::Algorithm::kTree) return true;
  const std::vector<nccl::GraphChannel>& found = time.communicator->graphs.ring.orders;
  return found.empty() || std::ssize(found.front().gpus) != of_worker ||
         !is_like_first_gpus(group, ranks);
}

/// Divides all transfers of a collective into segments from device to device. A collective can have
/// millions of segments, so they are passed on one by one instead of being stored.
class Routes {
 public:
  struct PathSegment {
    PartId from, to;
    bool between_workers = false;  ///< true if this segment crosses the network
    bool far = false;              ///< true if the data is for another worker
    std::int32_t away = 0;
    Engine engine = Engine::kKernel;
    double elements = 0;

    [[nodiscard]] bool is_like(const PathSegment& other) const {
      return from == other.from && to == other.to && between_workers == other.between_workers &&
             far == other.far && away == other.away && engine == other.engine;
    }
  };

  /// Passes all segments to `take`. Consecutive segments with the same path are merged first.
  Routes(const Collective& collective, const Group& group, const Schedule& schedule,
         std::function<void(const PathSegment&)> take)
      : collective_(collective),
        group_(group),
        cluster_(group.cluster()),
        ranks_(schedule.ranks()),
        sends_(!collective.nccl->choice),
        unknown_orders_(has_unknown_orders(collective, group, schedule.ranks())),
        take_(std::move(take)),
        of_rank_(schedule.ranks()) {
    for (Rank rank = 0; rank < schedule.ranks(); ++rank) {
      for (Lane lane = 0; lane < schedule.lanes(rank); ++lane) {
        schedule.visit_ways(rank, lane, [&](const Step& step) {
          if (step.kind == StepKind::kMulticast || step.kind == StepKind::kSwitchReduce) return;
          add(rank, step.to.rank(rank, schedule.ranks()), step, schedule.engine(rank, lane));
        });
      }
    }
    for (const auto& [from, elements] : out_of_gpu_) divide(from.first, from.second, elements);
    if (last_.elements > 0) take_(last_);
  }

  /// For each rank, adds up the elements that it sends to other ranks of its worker, and those that
  /// it receives from them. Returns the largest sum.
  [[nodiscard]] double most_of_gpu() const {
    double most = 0;
    for (const auto& [out, in] : of_rank_) most = std::max({most, out, in});
    return most;
  }
  /// True if all segments between GPUs of the same worker use NVLink.
  [[nodiscard]] bool by_nvlink_alone() const { return nvlink_ && !other_; }

 private:
  void add(Rank rank, Rank peer, const Step& step, Engine engine) {
    const PartId from = group_.device(rank);
    const PartId to = group_.device(peer);
    const auto elements = static_cast<double>(std::max<std::int64_t>(1, step.source.count));
    const std::int32_t away = step.to.away;
    if (away == 0 && from.worker == to.worker) {
      of_rank_[rank].first += elements;
      of_rank_[peer].second += elements;
      if (unknown_orders_ && has_neighbours(rank)) {
        out_of_gpu_[{rank, engine}] += elements;
        return;
      }
      return inside({from, to, false, false, 0, engine, elements}, rank);
    }
    PathSegment across{from, to, true, true, away, engine, elements};
    if (sends_) {
      across.from = path_without_card(rank, peer);
      if (across.from != from) inside({from, across.from, false, true, 0, engine, elements}, rank);
    } else {
      across.to = on_the_rail(from, to);
    }
    push(across);
  }

  /// If possible, merges a segment with the previous one. Consecutive steps of a lane usually take
  /// the same path.
  void push(const PathSegment& way) {
    if (last_.elements > 0 && last_.is_like(way)) {
      last_.elements += way.elements;
    } else {
      if (last_.elements > 0) take_(last_);
      last_ = way;
    }
  }

  /// If a rank sends to another node, returns the GPU through whose network card the data leaves.
  [[nodiscard]] PartId path_without_card(Rank rank, Rank peer) const {
    const nccl::Communicator& comm = *collective_.nccl->communicator;
    const Rank of_node = comm.ranks_of_node();
    const Rank relay = rank / of_node * of_node + comm.p2p.relay(rank % of_node, peer % of_node);
    return relay < ranks_ ? group_.device(relay) : group_.device(rank);
  }

  /// In a network with rails, NCCL's rings come in pairs, and neighbouring nodes use different
  /// rings of a pair. Data therefore leaves and arrives over cards of the same rail, and does not
  /// cross between the receiver's sockets.
  /// SOURCE: NVIDIA/nccl src/graph/connect.cc, ncclTopoPostset ("Alternate rings to avoid crossing
  /// rails").
  [[nodiscard]] PartId on_the_rail(PartId from, PartId to) const {
    const Machine& machine = cluster_.machine(to.worker);
    const bool rails = cluster_.network() && cluster_.network()->kind == Network::Kind::kRails;
    if (!rails ||
        machine.nearest_nic(to.part) == cluster_.machine(from.worker).nearest_nic(from.part))
      return to;
    if (from.part == to.part || !by_nvlink(machine, from.part, to.part)) return to;
    return {to.worker, from.part};
  }

  /// Returns the ranks to which NVLinks connect `rank` without a switch, with the links'
  /// bandwidths.
  [[nodiscard]] std::vector<std::pair<Rank, double>> neighbours(Rank rank) const {
    const PartId from = group_.device(rank);
    const Machine& machine = cluster_.machine(from.worker);
    const auto [first, count] = ranks_of_worker(group_, ranks_, rank);
    std::vector<std::pair<Rank, double>> found;
    for (Rank peer = first; peer < first + count; ++peer) {
      if (const double width = direct_nvlink(machine, from.part, group_.device(peer).part);
          width > 0)
        found.emplace_back(peer, width);
    }
    return found;
  }

  /// Steps come sorted by rank, so the result for the last rank is kept.
  bool has_neighbours(Rank rank) {
    if (asked_.first != rank) asked_ = {rank, !neighbours(rank).empty()};
    return asked_.second;
  }

  /// Divides the elements that a rank sends among its NVLinks, in proportion to their bandwidths.
  void divide(Rank rank, Engine engine, double elements) {
    const auto to = neighbours(rank);
    double all = 0;
    for (const auto& [peer, width] : to) all += width;
    for (const auto& [peer, width] : to)
      push({group_.device(rank), group_.device(peer), false, false, 0, engine,
            elements * width / all});
    nvlink_ = true;
  }

  /// Adds a segment inside a worker, of the data of `rank`. If there is no direct NVLink, the path
  /// goes over a participating GPU that has NVLinks to both ends. If several GPUs have such
  /// NVLinks, the path takes the one whose links have the least data so far. (NCCL removes all
  /// other GPUs from its topology before it computes paths.)
  void inside(const PathSegment& way, Rank rank) {
    const Machine& machine = cluster_.machine(way.from.worker);
    if (by_nvlink(machine, way.from.part, way.to.part)) {
      nvlink_ = true;
      push(way);
      return;
    }
    int over = -1;
    double least = 0;
    const auto [first, count] = ranks_of_worker(group_, ranks_, rank);
    for (Rank relay = first; relay < first + count; ++relay) {
      const int gpu = group_.device(relay).part;
      if (!by_nvlink(machine, way.from.part, gpu) || !by_nvlink(machine, gpu, way.to.part))
        continue;
      // The load of the links between this GPU and the two ends, if the segment goes over this GPU:
      // the elements relayed so far, this segment, and direct traffic of the same size.
      const double most = std::max((relayed_[{way.from, gpu}] + 2 * way.elements) /
                                       nvlink_width(machine, way.from.part, gpu),
                                   (relayed_[{way.to, -1 - gpu}] + 2 * way.elements) /
                                       nvlink_width(machine, gpu, way.to.part));
      if (over >= 0 && most >= least) continue;
      over = gpu;
      least = most;
    }
    if (over < 0) {
      other_ = true;
      push(way);
      return;
    }
    nvlink_ = true;
    relayed_[{way.from, over}] += way.elements;
    relayed_[{way.to, -1 - over}] += way.elements;
    for (const auto& [from, to] : {std::pair(way.from, PartId{way.from.worker, over}),
                                   std::pair(PartId{way.from.worker, over}, way.to)}) {
      PathSegment half = way;
      half.from = from;
      half.to = to;
      push(half);
    }
  }

  const Collective& collective_;
  const Group& group_;
  const Cluster& cluster_;
  Rank ranks_;
  bool sends_;
  bool unknown_orders_;
  std::pair<Rank, bool> asked_{-1, false};  ///< the last result of has_neighbours()
  bool nvlink_ = false, other_ = false;
  PathSegment last_;  ///< the most recent segment, with which the next one may be merged; empty if
                      ///< it has no elements
  std::function<void(const PathSegment&)> take_;
  std::vector<std::pair<double, double>> of_rank_;  ///< for each rank: the elements that it sends
                                                    ///< and the elements that it receives
  std::map<std::pair<Rank, Engine>, double>
      out_of_gpu_;  ///< elements that a rank sends to unknown ranks of its worker, by engine
  std::map<std::pair<PartId, int>, double>
      relayed_;  ///< the key is a GPU and n ≥ 0 for the elements that the GPU sends to neighbour n,
                 ///< or -1 - n for the elements that it receives from n
};

double part_of(double part, double whole) { return whole > 0 ? part / whole : 0; }

Time part_of_time(Time whole, double part) {
  return Time(static_cast<std::int64_t>(std::floor(static_cast<double>(whole.count()) * part)));
}

Bytes whole_bytes(double bytes) { return Bytes(std::llround(bytes)); }

}  // namespace

/// Adds up the traffic of each link and port.
class NcclLinks::Adder {
 public:
  Adder(const Cluster& cluster, const PathTable& paths, Staging staging,
        std::vector<UsedLink>& used_links)
      : cluster_(cluster), paths_(paths), staging_(staging), used_links_(used_links) {}

  void add(const Routes::PathSegment& way) {
    const Path& path = path_of(way);
    for (const PathHop& hop : path.hops) add(hop.resource, hop.link(), hop.rate, way);
    for (const LinkId link : path.silent_links) add(-1, link, cluster_.link(link).bandwidth, way);
    if (!way.between_workers) return;
    if (of_worker_.empty()) of_worker_.resize(cluster_.workers());
    of_worker_[way.from.worker].first += way.elements;
    of_worker_[way.to.worker].second += way.elements;
  }

  [[nodiscard]] double most_of_worker() const {
    double most = 0;
    for (const auto& [out, in] : of_worker_) most = std::max({most, out, in});
    return most;
  }

 private:
  /// Returns a path. A small cache holds recent paths. Segments are sorted by rank, so nearly every
  /// path is computed only once.
  const Path& path_of(const Routes::PathSegment& way) {
    const std::int32_t ahead = way.to.worker - way.from.worker;
    const auto slot = static_cast<std::uint32_t>(way.from.part * 31 + way.to.part * 7 + ahead * 13);
    Recent& recent = recent_[slot % recent_.size()];
    if (recent.from != way.from || recent.to != way.to || recent.away != way.away ||
        recent.engine != way.engine) {
      recent = {way.from, way.to, way.away, way.engine,
                paths_.make_unicast(way.from, way.to, staging_, way.engine, way.away)};
    }
    return recent.path;
  }

  void add(ResourceId resource, LinkId link, Bandwidth rate, const Routes::PathSegment& way) {
    const auto [number, fresh] = index_.find_or_add(
        FlatIndex::hash_of(static_cast<std::uint64_t>(resource), static_cast<std::uint64_t>(link)),
        [&](std::int32_t n) {
          const UsedLink& known = used_links_[n];
          return known.resource == resource && known.link == link;
        });
    if (fresh) {
      UsedLink& used = used_links_.emplace_back();
      used.resource = resource;
      used.link = link;
      used.rate = used.ceiling = rate;
      used.part = way.between_workers ? Part::kPort : Part::kInside;  // a port of the ideal network
      if (link >= 0) describe(used);
    }
    UsedLink& used = used_links_[number];
    (way.far ? used.far : used.near) += way.elements;
  }

  void describe(UsedLink& used) const {
    if (used.link < cluster_.switch_links()) {
      used.part = Part::kSwitches;
      return;
    }
    const Hop hop = cluster_.link(used.link);
    used.part = hop.kind == LinkKind::kNetwork  ? Part::kPort
                : hop.kind == LinkKind::kNvlink ? Part::kInside
                                                : Part::kBetween;
    used.ceiling = ceiling_of(hop, cluster_);
    used.cards_of_gpu = cards_of_gpu(hop);
    used.of_device = is_of_device(hop, cluster_);
  }

  /// Returns the number of cards of each GPU if the link belongs to a network card; otherwise 1.
  [[nodiscard]] int cards_of_gpu(const Hop& hop) const {
    const auto is_card = [&](PartId id) {
      return id.part >= 0 && cluster_.part(id).kind == PartKind::kNic;
    };
    if (!is_card(hop.from) && !is_card(hop.to)) return 1;
    const Machine& machine = cluster_.machine(is_card(hop.from) ? hop.from.worker : hop.to.worker);
    const auto gpus = static_cast<int>(machine.gpus().size());
    return gpus == 0 ? 1 : std::max(1, static_cast<int>(machine.nics().size()) / gpus);
  }

  struct Recent {
    PartId from{-1, -1}, to{-1, -1};
    std::int32_t away = 0;
    Engine engine = Engine::kKernel;
    Path path;
  };

  const Cluster& cluster_;
  const PathTable& paths_;
  Staging staging_;
  std::array<Recent, 64> recent_;
  std::vector<UsedLink>& used_links_;
  FlatIndex index_;                                   ///< index into `used_links_`, by resource and
                                                      ///< link
  std::vector<std::pair<double, double>> of_worker_;  ///< for each worker: the elements that it
                                                      ///< sends and the elements that it receives
};

NcclLinks::NcclLinks(const Collective& collective, const Group& group, const PathTable& paths) {
  Adder adder(group.cluster(), paths, collective.staging, used_links_);
  const Routes routes(collective, group,
                      collective.nccl_ways ? *collective.nccl_ways : *collective.schedule,
                      [&](const Routes::PathSegment& way) { adder.add(way); });
  most_of_gpu_ = routes.most_of_gpu();
  most_of_worker_ = adder.most_of_worker();
  inside_ = routes.by_nvlink_alone() ? LinkKind::kNvlink : LinkKind::kPcie;
  if (inside_ == LinkKind::kNvlink) return;
  for (UsedLink& used : used_links_) {
    if (used.part == Part::kBetween) used.part = Part::kInside;
  }
}

NcclLinks::Load NcclLinks::load_of(const UsedLink& used, const nccl::CollectiveTime& time) const {
  return {(time.time.links.bytes - time.time.relayed) * core::part_of(used.near, most_of_gpu_),
          time.time.cards.bytes * core::part_of(used.far, most_of_worker_) / used.cards_of_gpu};
}

Time NcclLinks::min_of(const UsedLink& used, const Load& load) {
  return used.link < 0 ? Time() : transfer_time(whole_bytes(load.near + load.far), used.ceiling);
}

NcclLinks::Busiest NcclLinks::busiest(const nccl::CollectiveTime& time) const {
  Busiest busiest;
  for (const UsedLink& used : used_links_) {
    if (used.part == Part::kSwitches) continue;
    const Time least = min_of(used, load_of(used, time));
    if (least > busiest.least) busiest = {least, used.link, used.of_device};
  }
  return busiest;
}

std::vector<LinkUse> NcclLinks::uses(const nccl::CollectiveTime& time) const {
  // For the links and the ports with the highest load relative to their rate, the time model gives
  // the busy time. The busy times of all other links and ports are in proportion to their loads.
  const bool nvlink = inside_ == LinkKind::kNvlink;
  const auto modelled = [&](const UsedLink& used, const Load& load) {
    const double bytes = used.part == Part::kPort || nvlink ? load.near + load.far : load.near;
    return bytes / static_cast<double>(used.rate.count());
  };
  double max_inside = 0, most_port = 0;
  for (const UsedLink& used : used_links_) {
    double* const most = used.part == Part::kInside ? &max_inside
                         : used.part == Part::kPort ? &most_port
                                                    : nullptr;
    if (most) *most = std::max(*most, modelled(used, load_of(used, time)));
  }
  std::vector<LinkUse> uses;
  uses.reserve(used_links_.size());
  for (const UsedLink& used : used_links_) {
    const Load load = load_of(used, time);
    LinkUse use;
    use.resource = used.resource;
    use.link = used.link;
    use.rate = used.rate;
    use.carried = whole_bytes(load.near + load.far);
    const Time least = min_of(used, load);
    switch (used.part) {
      case Part::kInside:
        use.busy = part_of_time(time.links, core::part_of(modelled(used, load), max_inside));
        if (!nvlink) use.busy += transfer_time(whole_bytes(load.far), used.rate);
        break;
      case Part::kPort:
        use.busy = part_of_time(time.cards, core::part_of(modelled(used, load), most_port));
        break;
      case Part::kSwitches:
      case Part::kBetween: use.busy = transfer_time(use.carried, used.rate); break;
    }
    // Real systems exceed the rates that NCCL assumes, but no link exceeds its `ceiling`. The time
    // model does not include links between switches of the network. In a small collective with few
    // channels, a link can be busy for longer than `work`, because its bytes also move during
    // `delay`.
    if (used.part != Part::kSwitches) {
      use.busy = std::max(least, std::min(use.busy, time.work));
      if (least <= time.delay + time.work) use.busy = std::min(use.busy, time.work);
    }
    if (used.part == Part::kSwitches && used.resource < 0)
      use.busy = Time();  // ideal: switches are not modelled
    if (use.busy > Time() || use.carried.count() > 0) uses.push_back(use);
  }
  return uses;
}

// --- the bound ---

NcclLinkBound::NcclLinkBound(std::shared_ptr<const Machine> machine,
                             const std::optional<Network>& network,
                             const std::shared_ptr<const nccl::Communicator>& communicator,
                             CollectiveKind kind, Rank root) {
  const int nodes = std::min(2, communicator->nodes);
  const int gpus = communicator->ranks_of_node();
  Network joined = network.value_or(Network{});
  if (joined.kind != Network::Kind::kRails) joined.kind = Network::Kind::kOneSwitch;
  if (joined.latency == Time()) joined.latency = microseconds(1);
  cluster_ =
      std::make_shared<const Cluster>(std::vector<WorkerGroup>{{std::move(machine), nodes}}, gpus,
                                      nodes > 1 ? std::optional(joined) : std::nullopt);
  Strategy strategy = Strategy::for_algorithm(BaseAlgorithm::kNccl);
  strategy.collective = kind;
  strategy.root = root % gpus;
  strategy.out_of_place = !can_be_in_place(kind);
  const PathTable paths(*cluster_, NetworkModel::kFifo);
  const auto links_by = [&](std::optional<nccl::Choice> choice) {
    set_ways(strategy, *communicator, choice, *cluster_, gpus, nodes > 1);
    constexpr std::int64_t kEnoughForAllChannels = 1 << 20;
    const std::int64_t elements =
        cut_evenly(*cluster_, strategy, DataType::kFloat32, kEnoughForAllChannels, nullptr);
    Collective collective = make_collective(*cluster_, strategy, DataType::kFloat32, elements, 0);
    nccl::CollectiveTime time;
    time.communicator = communicator;
    time.choice = choice;
    collective.nccl = std::make_shared<const nccl::CollectiveTime>(std::move(time));
    return std::make_shared<const NcclLinks>(collective, collective.group, paths);
  };
  if (!nccl::function_of(kind)) {
    by_channels_ = links_by(std::nullopt);
    return;
  }
  nccl::Choice choice;
  choice.algorithm = nccl::Algorithm::kRing;
  by_channels_ = links_by(choice);
  const std::optional<int> channels = strategy.channels;
  choice.algorithm = nccl::Algorithm::kTree;
  by_trees_ = communicator->graphs.ring.orders.empty() ? by_channels_ : links_by(choice);
  choice.algorithm = nccl::Algorithm::kNvls;
  set_ways(strategy, *communicator, choice, *cluster_, gpus, nodes > 1);
  by_heads_ = strategy.channels == channels ? by_channels_ : links_by(choice);
}

void NcclLinkBound::apply(nccl::CollectiveTime& time) const {
  const bool by_heads = time.choice && !goes_by_channels(time.choice->algorithm);
  const bool by_trees = time.choice && time.choice->algorithm == nccl::Algorithm::kTree;
  const NcclLinks& links = *(by_heads ? by_heads_ : by_trees ? by_trees_ : by_channels_);
  const NcclLinks::Busiest busiest = links.busiest(time);
  if (busiest.link >= 0)
    nccl::take_at_least(time, busiest.least, cluster_->link_name(busiest.link), busiest.of_device);
}

}  // namespace tutti::core
