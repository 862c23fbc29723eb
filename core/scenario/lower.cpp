#include "core/scenario/lower.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "core/cluster/nccl_sockets.h"
#include "core/lowering/framework.h"
#include "core/lowering/graph_plan.h"
#include "core/scenario/communicators.h"
#include "core/scenario/custom.h"
#include "core/scenario/host_library.h"
#include "core/scenario/link_checks.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

class ScenarioLowering {
 public:
  explicit ScenarioLowering(WrittenScenario& written)
      : written_(written),
        problems_(written.problems),
        complaints_(written.complaints),
        scenario_(written.scenario) {}

  void lower() {
    if (!scenario_.cluster || !written_.strategy_known) return;
    lower_strategy();
    if (problems_.empty()) price_hosts();
    lower_custom(written_);
    for (const StrategyProblem& problem : problems_of(scenario_.strategy, *scenario_.cluster))
      complain_about(problem);
    lower_communicators();
    if (written_.graph) check_trace();
    if (!problems_.empty()) return;
    auto plan = written_.graph
                    ? plan_of_graph(written_.graph, scenario_.strategy, *scenario_.cluster)
                    : make_plan(scenario_.workload, scenario_.strategy, *scenario_.cluster,
                                scenario_.communicators);
    if (!plan) return complain_about(plan.error());
    scenario_.plan = std::move(*plan);
    scenario_.plan.graph_pace_ppm = written_.graph_pace_ppm;
    note_custom(scenario_);
    check_links(written_);
  }

 private:
  /// Adapts the strategy to this cluster: the framework makes its choices, and names of devices are
  /// resolved.
  void lower_strategy() {
    Strategy& strategy = scenario_.strategy;
    if (strategy.framework) strategy.framework->partition(scenario_.workload, complaints_);
    if (strategy.framework)
      strategy.framework->lower({scenario_.workload, *scenario_.cluster}, strategy, complaints_);
    if (strategy.servers && strategy.servers->updates && complaints_.has("workload.update_ms")) {
      complaints_.complain_at(
          "workload.update_ms", ProblemCode::kUnused,
          "workload: update_ms has no effect with servers, where an update takes the time of {} "
          "passes over the memory of the device; remove update_ms",
          kUpdatePasses);
    }
    if (problems_.empty()) choose_devices(strategy);
    set_launch_time(strategy);
  }

  /// Sets the default launch time on GPUs. The times of servers, and of clusters that were fitted
  /// to measured runs, include their software.
  void set_launch_time(Strategy& strategy) const {
    const Cluster& cluster = *scenario_.cluster;
    if (strategy.requested_launch_overhead || strategy.servers || strategy.independent ||
        cluster.replicas() < 2 || written_.cluster().has_calibrated())
      return;
    const Part& device = cluster.part(cluster.replica(0));
    if (device.gpu_model != GpuModel::kNone || device.nearest_gpu_model != GpuModel::kNone)
      strategy.launch_overhead = kGpuLaunch;
  }

  /// On a TCP network, sets the overhead that hosts add to messages. The overhead depends on the
  /// strategy's library.
  void price_hosts() {
    const auto& network = scenario_.cluster->network();
    if (!network || network->transport != Transport::kTcp) return;
    Network priced = *network;
    HostTransportSettings settings = network->host_settings;
    const HostLibrary library = host_library_of(scenario_.strategy);
    const bool unchanged =
        settings.library == HostLibrary::kUnstated || settings.library == HostLibrary::kNccl;
    if (library == HostLibrary::kNccl && unchanged) choose_sockets(*network, settings);
    priced.host = host_transport(library, settings);
    if (!priced.host) return;
    scenario_.cluster =
        std::make_shared<const Cluster>(scenario_.cluster->with_network(std::move(priced)));
  }

  /// Sets the numbers of threads and sockets of NCCL's connections. The numbers follow from NCCL's
  /// variables and from the numbers that NCCL uses by default with the network's cards. In an
  /// overlay, NCCL sees a virtual card.
  void choose_sockets(const Network& network, HostTransportSettings& settings) const {
    nccl::Settings& variables = scenario_.nccl.settings;
    NcclSocketNumbers set{variables.socket_threads, variables.sockets_per_thread};
    if (settings.threads) set.threads = settings.threads;
    NcclSocketNumbers of_cards;
    if (settings.overlay == Overlay::kNone) {
      of_cards = {network.nccl_socket_threads, network.nccl_sockets_per_thread};
      if (of_cards.per_thread && !of_cards.threads) of_cards.threads = 1;
    }
    const NcclSockets sockets = nccl_sockets(set, of_cards, variables.notes);
    settings.threads = sockets.threads;
    settings.sockets_per_thread = sockets.per_thread;
  }

  /// If the algorithm has a root, chooses the root device.
  void choose_devices(Strategy& strategy) {
    if (strategy.hierarchical_copy.drops_odd && !traits(strategy.algorithm).drops_odd_device)
      complaints_.complain_at(
          "strategy.drop_odd_device", ProblemCode::kUnused,
          "strategy: drop_odd_device applies only to hierarchical_copy; remove drop_odd_device");
    if (strategy.reduce_to_device.empty()) return;
    if (!traits(strategy.algorithm).chooses_device)
      return complaints_.complain_at("strategy.reduce_to_device", ProblemCode::kUnused,
                                     "strategy: reduce_to_device applies only to "
                                     "reduction_to_one_device; remove reduce_to_device");
    const Cluster& cluster = *scenario_.cluster;
    std::vector<std::string> names;
    for (int r = 0; r < cluster.replicas_per_worker(); ++r) {
      names.push_back(cluster.part(cluster.replica(r)).name);
      if (names.back() != strategy.reduce_to_device) continue;
      strategy.reduce_to = r;
      return;
    }
    const Machine& machine = cluster.machine(0);
    if (!machine.gpus().empty() && !machine.cpus().empty()) {
      names.push_back(cluster.part(cluster.host(0)).name);
      if (names.back() == strategy.reduce_to_device) return strategy.reduce_to.reset();
    }
    complaints_.complain_at(
        "strategy.reduce_to_device", ProblemCode::kUnknownName,
        "strategy: reduce_to_device: no device \"{}\" of the first worker takes part "
        "in the reduction; expected one of {}",
        strategy.reduce_to_device, fmt::join(names, ", "));
  }

  void lower_communicators() {
    scenario_.communicators = core::lower_communicators(written_.communicators, scenario_.strategy,
                                                        *scenario_.cluster, complaints_);
    const bool splits = std::any_of(scenario_.communicators.begin(), scenario_.communicators.end(),
                                    [](const Communicator& c) { return c.splits_model; });
    if (scenario_.strategy.spec && splits) {
      complaints_.complain_at(
          path_of("all_reduce_spec"), ProblemCode::kConflict,
          "strategy: all_reduce_spec reduces over all replicas, but replicas hold different parts "
          "of the model (splits_model); set algorithm: \"ring\" or \"nccl\" instead");
    }
  }

  /// Rejects settings that have no effect with an execution trace. The trace determines what is
  /// communicated and when. The strategy only sets the algorithm.
  void check_trace() {
    const auto refuse = [this](bool is_there, const std::string& place, const std::string& what) {
      if (!is_there) return;
      complaints_.complain_at(place, ProblemCode::kConflict,
                              "{}: the execution_trace determines all communication, so the "
                              "strategy can set only the algorithm; remove {} from the strategy",
                              place, what);
    };
    const Strategy& s = scenario_.strategy;
    refuse(s.framework != nullptr, "strategy", "framework");
    refuse(s.servers && !s.framework, "strategy", "servers");
    refuse(s.spec.has_value() && !s.framework, "strategy", "all_reduce_spec");
    refuse(s.custom.has_value(), "strategy.custom", "algorithm from a file");
    refuse(s.compression.has_value(), "strategy.compression", "compression");
    refuse(s.timeout.has_value() && !s.framework, "strategy", "timeout");
    refuse(!scenario_.communicators.empty(), "communicator", "communicators");
  }

  /// Returns the path of a strategy's field, such as "strategy.shards".
  [[nodiscard]] std::string path_of(const std::string& field) const {
    const auto& elsewhere = scenario_.strategy.written_as;
    const auto found = elsewhere.find(field);
    return "strategy." + (found == elsewhere.end() ? field : found->second);
  }

  void complain_about(const StrategyProblem& problem) {
    if (problem.field.empty()) return complaints_.complain_at("", problem.code, "{}", problem.text);
    const std::string path = path_of(problem.field);
    complaints_.complain_at(path, problem.code, "strategy: {}: {}",
                            path.substr(path.rfind('.') + 1), problem.text);
  }

  WrittenScenario& written_;
  Problems& problems_;
  Complaints& complaints_;
  Scenario& scenario_;
};

}  // namespace

void lower(WrittenScenario& written) { ScenarioLowering(written).lower(); }

}  // namespace tutti::core
