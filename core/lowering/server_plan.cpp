// Parameter servers are planned as ordinary collectives on stars or two-level trees whose root is
// the device that holds the variable. A push reduces gradients to the root, which then computes the
// mean and the update. The push ends with a broadcast of the variable. If replicas read the
// variable in a separate pack, the broadcast is only an empty notification. A read is a broadcast
// that starts when the training step starts. Ranks are numbered as follows: first the replicas,
// then one host per worker, then the parameter servers. If workers are asynchronous, each worker
// has its own group: the worker's replicas, its host, and the CPUs of all workers.
// core/strategy/servers.cpp assigns variables to servers, and core/algorithm/star_tree.cpp has the
// schedules.

#include "core/lowering/server_plan.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/algorithm/star_tree.h"
#include "core/algorithm/tree_blocks.h"
#include "core/base/check.h"
#include "core/lowering/sparse_plan.h"
#include "core/schedule/stages.h"

namespace tutti::core {
namespace {

class ServerPlanner {
 public:
  ServerPlanner(const Workload& workload, const Strategy& strategy, const Cluster& cluster)
      : workload_(workload),
        strategy_(strategy),
        servers_(*strategy.servers),
        cluster_(cluster),
        per_worker_(cluster.replicas_per_worker()),
        workers_(static_cast<std::int32_t>(cluster.replicas() / per_worker_)),
        on_gpus_(cluster.part(cluster.replica(0)).kind == PartKind::kGpu) {
    if (servers_.asynchronous) {
      plan_.partition = Partition{cluster.replicas(), per_worker_, 1, false};
      workers_ = 1;
    }
  }

  tl::expected<Plan, StrategyProblem> make() {
    plan_.notes = strategy_.notes;
    plan_.update = servers_.updates ? Update::kOnServers : strategy_.update;
    // Each asynchronous worker executes its own collectives, so the number of collectives grows
    // with the number of workers.
    constexpr std::int64_t kMaxAtOnce = std::int64_t{1} << 22;
    if (servers_.asynchronous &&
        plan_.partition->groups() > kMaxAtOnce / (2 * std::max(1, count()))) {
      return tl::make_unexpected(
          StrategyProblem{"", fmt::format("{} asynchronous workers with {} variables each are too "
                                          "many to simulate; use at most {} workers",
                                          plan_.partition->groups(), count(),
                                          kMaxAtOnce / (2 * std::max(1, count())))});
    }
    if (has_slices(workload_) &&
        (!servers_.reads || !servers_.updates || !strategy_.sparse.on_servers))
      return tl::make_unexpected(StrategyProblem{
          "", fmt::format("Tutti does not model sparse gradients (IndexedSlices) with {}; remove "
                          "sparse_gradient, or use parameter_server",
                          strategy_.distribution_name)});
    const std::vector<int> places = places_of_variables();
    std::vector<std::int64_t> elements;
    for (const Variable& v : workload_.gradients) elements.push_back(v.elements);
    caches_ = caches_by_load(elements, per_worker_);
    if (servers_.reads) {
      for (int v = 0; v < count(); ++v) add(v, PackPhase::kRead, places);
    }
    // Variables are in reverse order of creation, because the gradients of the last variables
    // become ready first.
    for (int v = count() - 1; v >= 0; --v) add(v, PackPhase::kGradients, places);
    if (plan_.packs.empty())
      return tl::make_unexpected(StrategyProblem{
          "", "the model has no gradient with elements, so there is nothing to send"});
    note_loads(places);
    return std::move(plan_);
  }

 private:
  [[nodiscard]] int count() const { return static_cast<int>(workload_.gradients.size()); }
  [[nodiscard]] const Variable& variable(int v) const { return workload_.gradients[v]; }

  // --- where ---

  [[nodiscard]] std::vector<int> places_of_variables() const {
    std::vector<Placed> variables;
    for (const Variable& v : workload_.gradients) variables.push_back({v.elements, v.bytes()});
    return place(variables, servers_.count, servers_.placement);
  }

  void note_loads(const std::vector<int>& places) {
    if (servers_.count == 1) return;
    std::vector<std::int64_t> loads(servers_.count);
    for (int v = 0; v < count(); ++v) loads[places[v]] += variable(v).bytes().count();
    const auto [least, most] = std::minmax_element(loads.begin(), loads.end());
    plan_.notes.add(
        "servers.variables-lie",
        "variables are placed {}: {:.1f} MB on the fullest server, {:.1f} MB on the emptiest",
        describe(servers_), static_cast<double>(*most) / 1e6, static_cast<double>(*least) / 1e6);
  }

  // --- ranks ---

  /// Returns the rank of a worker's CPU; if the replicas are CPUs, the worker's first replica.
  [[nodiscard]] Rank host(std::int32_t worker) const {
    return on_gpus_ ? workers_ * per_worker_ + worker : worker * per_worker_;
  }
  [[nodiscard]] Rank root(int place) const {
    if (servers_.on == Servers::On::kReplicas) return place;
    const auto worker = static_cast<std::int32_t>(servers_.first + place);
    if (servers_.asynchronous) return per_worker_ + 1 + worker;
    return worker < workers_ ? host(worker) : workers_ * per_worker_ + worker;
  }
  [[nodiscard]] bool has_hosts() const {
    return servers_.on == Servers::On::kHosts && (on_gpus_ || cluster_.servers() > 0);
  }
  /// Returns the ranks of the group, including the hosts.
  [[nodiscard]] StageGroup layout(bool hosts_hold_data) const {
    StageGroup group{workers_, per_worker_, has_hosts(), hosts_hold_data, 0};
    if (!has_hosts()) return group;
    group.helpers =
        static_cast<std::int32_t>(servers_.asynchronous ? cluster_.workers() : cluster_.servers());
    return group;
  }
  [[nodiscard]] Engine replica_engine() const {
    return on_gpus_ ? Engine::kCopyEngine : Engine::kCpu;
  }
  [[nodiscard]] Engine root_engine() const {
    return servers_.on == Servers::On::kReplicas ? replica_engine() : Engine::kCpu;
  }

  [[nodiscard]] StarTree tree(int v, Rank root, Servers::Relay relay) const {
    StarTree tree{layout(false).ranks(), workers_ * per_worker_, per_worker_, workers_, root};
    if (relay == Servers::Relay::kNone) return tree;
    tree.relays = relays(v, relay);
    return tree;
  }
  [[nodiscard]] StarTree::Relays relays(int v, Servers::Relay relay) const {
    if (relay == Servers::Relay::kReplicaRoundRobin) return {v % per_worker_, per_worker_};
    const int cache = caches_[v];
    if (relay == Servers::Relay::kByLoad && cache >= 0) return {cache, per_worker_};
    // If replicas are CPUs, a worker's first replica is its host.
    return on_gpus_ ? StarTree::Relays{host(0), 1} : StarTree::Relays{0, per_worker_};
  }

  // --- packs ---

  void add(int v, PackPhase phase, const std::vector<int>& places) {
    if (variable(v).elements == 0) return;
    if (is_sparse(v, phase)) return add_rows(v, phase, root(places[v]));
    const Rank at = root(places[v]);
    Collective c = collective(v, at);
    if (phase == PackPhase::kRead) {
      c.kind = CollectiveKind::kBroadcast;
      c.schedule =
          tree_broadcast(tree(v, at, servers_.pull), c.elements, replica_engine(), Engine::kCpu);
      // The server sends a variable's value only after a worker has requested it.
      if (!strategy_.requested_staging) c.staging = Staging::kViaHostOnRequest;
    } else {
      c.kind = servers_.reads ? CollectiveKind::kReduce : CollectiveKind::kAllReduce;
      c.schedule = brought_together(v, at, c.elements);
    }
    Pack pack =
        plan_.pack_of({{v, 0, variable(v).elements, 0}}, std::move(c), strategy_.launch_overhead);
    pack.phase = phase;
    pack.turn = v;
    plan_.packs.push_back(std::move(pack));
  }

  /// True if only some rows of the variable are sent. If a device of the worker caches the
  /// variable, reads transfer the whole variable.
  [[nodiscard]] bool is_sparse(int v, PackPhase phase) const {
    if (!variable(v).slices) return false;
    return phase == PackPhase::kGradients || servers_.pull == Servers::Relay::kNone;
  }

  /// Adds the packs of a sparse variable. For a read, the replica sends the server the indices of
  /// rows and receives the rows. For gradients, the replica sends indices and rows, and the server
  /// applies the rows.
  void add_rows(int v, PackPhase phase, Rank at) {
    const Slices& slices = *variable(v).slices;
    const std::int64_t values = slices.rows * variable(v).row_elements();
    const bool read = phase == PackPhase::kRead;
    Collective of_which = collective(v, at), of_rows = of_which;
    fill(of_which, slices.index_type, slices.rows, CollectiveKind::kGather);
    fill(of_rows, variable(v).type, values,
         read ? CollectiveKind::kScatter : CollectiveKind::kGather);
    const StarTree tree = this->tree(v, at, read ? servers_.pull : servers_.push);
    of_which.schedule = gathered(tree, slices.rows, 0);
    if (read) {
      of_rows.schedule = tree_scatter(tree, values, replica_engine(), Engine::kCpu);
    } else {
      // To compute a mean, the server also divides the rows, which reads and writes them once more.
      const bool mean = strategy_.reduction == Reduction::kMean && tree.replicas > 1;
      of_rows.schedule = gathered(tree, values, kUpdatePasses + (mean ? 2 : 0));
    }
    Pack which = plan_.pack_of({{v, 0, 0, 0}}, std::move(of_which), strategy_.launch_overhead);
    which.payload.content = PackContent::kIndices;
    Pack rows = plan_.pack_of({{v, 0, variable(v).elements, 0}}, std::move(of_rows),
                              strategy_.launch_overhead);
    if (read) rows.after = static_cast<int>(plan_.packs.size());
    for (Pack* const pack : {&which, &rows}) {
      pack->phase = phase;
      pack->turn = v;
      pack->payload.reduction = Reduction::kSum;
    }
    plan_.packs.push_back(std::move(which));
    plan_.packs.push_back(std::move(rows));
  }

  void fill(Collective& c, DataType type, std::int64_t of_each, CollectiveKind kind) const {
    c.kind = kind;
    c.type = type;
    c.elements = of_each * c.contributors;
  }

  /// Returns a schedule that gathers the rows at the variable's device. If `passes` is above 0, the
  /// device reads or writes the gathered rows this number of times, and then notifies all replicas.
  [[nodiscard]] std::shared_ptr<const Schedule> gathered(const StarTree& tree, std::int64_t of_each,
                                                         std::int64_t passes) const {
    const std::int64_t elements = of_each * tree.replicas;
    std::vector<Stage> stages{
        {StageScope::kEveryone, tree_gather(tree, of_each, replica_engine(), Engine::kCpu)}};
    if (passes == 0) return in_stages(layout(true), elements, std::move(stages));
    stages.push_back(
        {StageScope::kEveryone, work_of_rank(tree.ranks, tree.root, elements, 1,
                                             static_cast<std::int32_t>(passes), root_engine())});
    stages.push_back(
        {StageScope::kEveryone, tree_broadcast(tree, 0, replica_engine(), Engine::kCpu)});
    return in_stages(layout(true), elements, std::move(stages));
  }

  [[nodiscard]] Collective collective(int v, Rank root) const {
    const Group group = plan_.partition ? Group::of_partition(cluster_, *plan_.partition, 0, true)
                                        : Group::of_cluster(cluster_, has_hosts());
    Collective made{group,
                    nullptr,
                    variable(v).type,
                    variable(v).elements,
                    strategy_.staging,
                    std::int64_t{workers_} * per_worker_};
    made.root = root;
    return made;
  }

  /// Returns a schedule in which the variable's device sums the gradients, divides the sum for a
  /// mean, and applies the update. After the update, the device sends the variable to the replicas,
  /// or only a notification if they read the variable later.
  [[nodiscard]] std::shared_ptr<const Schedule> brought_together(int v, Rank at,
                                                                 std::int64_t elements) const {
    const StarTree push = tree(v, at, servers_.push);
    const std::int32_t n = push.replicas;
    const double factor = strategy_.reduction == Reduction::kMean && n > 1 ? 1.0 / n : 1;
    const auto passes = static_cast<std::int32_t>(servers_.updates ? kUpdatePasses : 0);
    std::vector<Stage> stages;
    stages.reserve(3);
    stages.push_back(
        {StageScope::kEveryone, tree_reduce(push, elements, replica_engine(), Engine::kCpu)});
    if (factor != 1 || passes > 0)
      stages.push_back({StageScope::kEveryone,
                        work_of_rank(push.ranks, at, elements, factor, passes, root_engine())});
    stages.push_back({StageScope::kEveryone,
                      servers_.reads ? tree_broadcast(push, 0, replica_engine(), Engine::kCpu)
                                     : tree_broadcast(tree(v, at, servers_.pull), elements,
                                                      replica_engine(), Engine::kCpu)});
    return in_stages(layout(servers_.reads), elements, std::move(stages));
  }

  const Workload& workload_;
  const Strategy& strategy_;
  const Servers& servers_;
  const Cluster& cluster_;
  std::int32_t per_worker_;
  std::int32_t workers_;  ///< number of workers in one group
  bool on_gpus_;
  std::vector<int> caches_;
  Plan plan_;
};

}  // namespace

tl::expected<Plan, StrategyProblem> plan_on_servers(const Workload& workload,
                                                    const Strategy& strategy,
                                                    const Cluster& cluster) {
  TUTTI_CHECK(strategy.servers.has_value(), "no servers in {}", to_string(strategy.algorithm));
  return ServerPlanner(workload, strategy, cluster).make();
}

std::vector<int> caches_by_load(const std::vector<std::int64_t>& elements, int gpus) {
  constexpr std::int64_t kMinOnGpu = 65'536;
  std::vector<std::int64_t> loads(gpus);
  std::vector<int> caches;
  for (const std::int64_t e : elements) {
    if (e < kMinOnGpu) {
      caches.push_back(-1);
      continue;
    }
    const auto least = std::min_element(loads.begin(), loads.end());
    *least += e;
    caches.push_back(static_cast<int>(least - loads.begin()));
  }
  return caches;
}

}  // namespace tutti::core
