// Adds the predictions of NCCL's models to the plan. Each NCCL collective gets the choice that NCCL
// would make, a predicted time, and a lower bound that follows from the links. A plan with
// thousands of packs has only a few different groups, so predictors and bounds are cached by nodes,
// GPUs and channels.
//
// There are two kinds of failure. If the models do not cover the cluster, the whole scenario is
// simulated with ring schedules, and the reason is stored for the user. If settings contradict each
// other, or if a file does not fit the cluster, a problem is reported. A collective with a
// predicted time also adds load to links. The links follow from the collective's schedule. If
// NCCL's channels or rings differ from those of this schedule, or if there are groups, the links
// follow from a second schedule, in which elements are divided evenly. If packs are fused at run
// time, their sizes are not known yet. With such packs, the plan gets an object that computes times
// on request. nccl_times.cpp computes the times.

#include "core/scenario/assign_times.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/lowering/graph_plan.h"
#include "core/nccl/calibration/calibration_file.h"
#include "core/nccl/collective_time.h"
#include "core/nccl/collnet.h"
#include "core/nccl/machine_communicator.h"
#include "core/nccl/newest_release.h"
#include "core/nccl/ofi_plugin.h"
#include "core/nccl/system_of_machine.h"
#include "core/nccl/tuner/aws_tuner.h"
#include "core/nccl/tuner/table_tuner.h"
#include "core/nccl/tuning/symmetric.h"
#include "core/scenario/nccl_model.h"
#include "core/scenario/nccl_times.h"
#include "core/strategy/algorithm_table.h"
#include "core/strategy/collective_parts.h"
#include "core/strategy/nccl_communicators.h"
#include "core/strategy/nccl_links.h"
#include "core/strategy/nccl_ways.h"

namespace tutti::core {
namespace {

constexpr const char* kField = "strategy.nccl";
constexpr const char* kVariablesField = "strategy.nccl.set";
constexpr const char* kCommunicatorsField = "strategy.nccl.communicators";
constexpr const char* kNetworkField = "strategy.nccl.network";

const std::string& text_of(const Error& error) { return error.problems().front().text; }

/// The model of NCCL with the scenario's options. This class has a predictor for each kind of GPU
/// group in the cluster.
class Nccl {
 public:
  Nccl(const Library& library, Scenario& scenario, Complaints& complaints, Problems& problems)
      : library_(library), complaints_(complaints), problems_(problems), scenario_(scenario) {}

  void take() {
    std::vector<Taken> all = collectives();
    if (all.empty()) {
      if (complaints_.has(kField))
        complaints_.complain_at(kField, ProblemCode::kUnused,
                                "strategy: nccl has no effect, because no collective of this "
                                "scenario uses NCCL; remove nccl, or set algorithm: \"nccl\"");
      return unused_calibration();
    }
    if (complaints_.has(kCommunicatorsField) && !packs_share_communicators(scenario_.strategy))
      complaints_.complain_at(kCommunicatorsField, ProblemCode::kUnused,
                              "strategy: nccl: communicators applies only to packs that NCCL "
                              "executes completely (algorithm: \"nccl\"); remove communicators");
    scenario_.nccl_values = options().settings.notes;
    if (scenario_.run.nccl == NcclModel::kRings) return;
    if (library_.folder().empty()) return;  // predictions need the library's parameters
    if (auto why = same_workers(); !why.empty()) return give_up(why);
    if (!load()) return;
    for (const Taken& one : all) {
      if (!time(one)) return;
    }
    // The executor decides at run time which packs are fused, so their times are computed then.
    if (const Taken& like = all.front(); scenario_.plan.fuses() && like.of_pack) {
      scenario_.plan.collective_times = std::make_shared<const NcclTimes>(
          *predictor_of(like), bounds_of(like), *like.strategy, !like.as_a_whole());
    }
  }

 private:
  /// A collective that NCCL executes.
  struct Taken {
    Collective* collective = nullptr;
    const Strategy* strategy = nullptr;
    int gpus = 1;  ///< number of GPUs per node
    int nodes = 1;
    const Partition* partition = nullptr;  ///< the partition whose groups execute the collective;
                                           ///< null: all replicas form one group
    const MemberList* members = nullptr;   ///< the replicas that execute the collective; null if
                                           ///< they are a group of `partition`
    bool of_pack = false;
    [[nodiscard]] bool as_a_whole() const { return !collective->parts; }
  };

  std::vector<Taken> collectives() {
    std::vector<Taken> all;
    const int per_worker = scenario_.cluster->replicas_per_worker();
    const auto add = [&](CollectiveId id, const Strategy& strategy, bool of_pack) {
      PlannedCollective& planned = scenario_.plan.collectives[id];
      Collective& c = planned.first;
      const Partition* const groups = planned.groups ? &*planned.groups : nullptr;
      const MemberList* const members = planned.members.get();
      const bool whole = traits(strategy.algorithm).nccl == NcclPart::kAll && c.contributors > 1;
      const std::int64_t gpus = members  ? core::per_worker(members->replicas(), per_worker)
                                : groups ? groups->per_worker(per_worker)
                                         : per_worker;
      if (whole)
        all.push_back({&c, &strategy, static_cast<int>(gpus),
                       static_cast<int>(c.contributors / gpus), groups, members, of_pack});
      if (!whole && c.parts)
        all.push_back({&c, &strategy, c.parts->layout.per_worker, 1, nullptr, nullptr, of_pack});
    };
    std::set<CollectiveId> of_trace;  // packs of a trace may share a collective
    for (Pack& pack : scenario_.plan.packs) {
      if (scenario_.plan.graph && !of_trace.insert(pack.collective).second) continue;
      auto [known, fresh] = entries_.try_emplace(scenario_.strategy.spec ? pack.entry : 0);
      if (fresh) known->second = strategy_of(scenario_.strategy, pack);
      add(pack.collective, known->second, true);
    }
    for (PlannedExchange& e : scenario_.plan.exchanges)
      add(e.collective, scenario_.communicators[e.communicator].strategy, false);
    return all;
  }

  /// Returns the reason why workers differ from each other; empty if all workers are identical.
  [[nodiscard]] std::string same_workers() const {
    const Cluster& cluster = *scenario_.cluster;
    const Machine& first = *cluster.groups().front().machine;
    for (std::size_t g = 1; g < cluster.replica_groups(); ++g) {
      const Machine& machine = *cluster.groups()[g].machine;
      if (machine.parts() != first.parts() || machine.links() != first.links())
        return "the cluster has machines of different kinds";
    }
    return "";
  }

  void note(const std::string& text) {
    std::vector<std::string>& notes = scenario_.nccl_values;
    if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
  }

  /// A calibration that is not used is valid, because a scenario may be simulated with several
  /// algorithms, but its file must exist.
  void unused_calibration() {
    const std::string& file = options().calibration;
    std::error_code ignored;
    if (file.empty() || library_.folder().empty()) return;
    if (!std::filesystem::exists(file, ignored))
      problems_.add({ProblemCode::kMissing, "Cluster.nccl_calibration"}, options().calibration_at,
                    "nccl_calibration: {} does not exist", file);
    note(fmt::format("the calibration {} has no effect, because no collective uses NCCL", file));
  }

  void give_up(const std::string& why) {
    simulate_as_rings(scenario_);
    scenario_.why_rings = why;
  }

  bool load() {
    auto parameters = nccl::Parameters::load(library_.folder());
    auto bands = nccl::ErrorBands::load(library_.folder());
    if (!parameters) problems_.add(parameters.error());
    if (!bands) problems_.add(bands.error());
    if (!parameters || !bands) return false;
    parameters_ = std::move(*parameters);
    bands_ = *bands;
    if (!load_tuner()) return false;
    return options().calibration.empty() || load_calibration();
  }

  /// Loads the tuner plugin into the settings.
  bool load_tuner() {
    NcclOptions& ours = scenario_.nccl;
    if (ours.tuner == NcclOptions::Tuner::kFile) {
      auto table = nccl::load_table_tuner(ours.tuner_file);
      if (table) return ours.settings.tuner = std::move(*table), true;
      const Location& where = table.error().problems().front().where;
      return problems_.add({ProblemCode::kInvalid, "Nccl.tuner_file"},
                           where.file.empty() ? ours.tuner_at : where, "{}",
                           text_of(table.error())),
             false;
    }
    if (ours.tuner != NcclOptions::Tuner::kAwsOfi) return true;
    const auto instance =
        ours.instance.empty() ? nccl::ec2_of(gpu_model()) : std::optional(ours.instance);
    if (instance) return ours.settings.tuner = std::make_shared<nccl::AwsTuner>(*instance), true;
    return problems_.add(
               {ProblemCode::kMissing, "Nccl.instance"}, ours.tuner_at,
               "strategy: nccl: tuner: AWS_OFI needs instance, because the EC2 instance type "
               "cannot be derived from the GPUs of {}; aws-ofi-nccl has tables for {}",
               scenario_.cluster->machine(0).name(), nccl::ec2_names()),
           false;
  }

  [[nodiscard]] GpuModel gpu_model() const {
    return nccl::gpu_model_of(scenario_.cluster->machine(0));
  }

  /// Applies the tuner plugin to a communicator. If the plugin does not support the communicator,
  /// removes the plugin and adds a note.
  void apply_tuner(const nccl::Communicator& comm, const nccl::System& system,
                   nccl::Settings& settings) {
    const bool efa = is_efa_with_rdma(system.transport);
    if (!settings.tuner) {
      if (efa && nccl::aws_tuner_decides(gpu_model(), comm))
        note(
            "on EC2, the tuner of aws-ofi-nccl chooses instead of NCCL; set strategy.nccl.tuner: "
            "AWS_OFI to use the choices of this tuner");
      return;
    }
    std::string why = settings.tuner->why_not(comm);
    if (why.empty() && options().tuner == NcclOptions::Tuner::kAwsOfi && !efa)
      why = fmt::format("this tuner belongs to the plugin for EFA networks, but the network is {}",
                        to_string(system.transport));
    if (why.empty())
      return note(fmt::format("for {} GPUs of {} nodes, NCCL's choices are made by {}", comm.ranks,
                              comm.nodes, settings.tuner->name()));
    note(fmt::format("{} makes no choices for {} GPUs of {} node{}: {}", settings.tuner->name(),
                     comm.ranks, comm.nodes, comm.nodes == 1 ? "" : "s", why));
    settings.tuner = nullptr;
  }

  bool load_calibration() {
    const auto spread = nccl::Spread::load(library_.folder());
    if (!spread) return problems_.add(spread.error()), false;
    auto loaded = nccl::load_calibration(options().calibration, *spread);
    if (!loaded) return problems_.add(loaded.error()), false;
    loaded->set_variables(options().variables);
    calibration_ = std::make_shared<const nccl::Calibration>(std::move(*loaded));
    return true;
  }

  /// Rejects a calibration that was measured on other machines, because its corrections would be
  /// wrong for this cluster. The problem is reported where the scenario names the calibration.
  bool takes_calibration(const nccl::System& system) {
    if (!calibration_) return true;
    const std::string why = calibration_->why_not(system, parameters_);
    if (why.empty()) return true;
    problems_.add({ProblemCode::kConflict, "Cluster.nccl_calibration"}, options().calibration_at,
                  "{} does not fit this cluster: {}", options().calibration, why);
    return false;
  }

  /// Sets the predicted time of a collective. Returns false if the time cannot be predicted.
  bool time(const Taken& one) {
    const nccl::Predictor* const predictor = predictor_of(one);
    if (!predictor) return false;
    auto known = nccl_times_of(*one.collective, *one.strategy, *predictor, bounds_of(one), ways_);
    if (!known) {
      complaints_.complain_at(kVariablesField, known.error().problems().front().kind.code,
                              "strategy: nccl: {}", text_of(known.error()));
      return false;
    }
    if (one.as_a_whole()) {
      one.collective->nccl = std::move(known->whole);
      Strategy by_ways = *one.strategy;
      const nccl::CollectiveTime& whole = *one.collective->nccl;
      set_ways(by_ways, *whole.communicator, whole.choice, *scenario_.cluster, one.gpus,
               one.nodes > 1);
      // If there are groups, the schedule must distinguish workers. Without groups, a second
      // schedule is only needed if its channels or rings differ from those of the strategy.
      const bool apart = scenario_.plan.partition || !scenario_.plan.exchanges.empty() ||
                         one.partition || one.members;
      if (!apart || by_ways.channels != one.strategy->channels || !by_ways.nccl_rings.empty())
        one.collective->nccl_ways = even_ways(one, by_ways);
    } else {
      one.collective->parts = std::move(known->parts);
    }
    return true;
  }

  /// Returns lower bounds on the time of this kind of collective, from the bandwidths of the links
  /// inside machines.
  NcclBounds bounds_of(const Taken& one) {
    if (one.as_a_whole()) return bounds_of(one, {{one.collective->kind, one.collective->root}});
    std::vector<NcclBounds::key_type> kinds;
    for (const CollectivePart& part : one.collective->parts->all) {
      if (part.inside_workers) kinds.emplace_back(part.collective.kind, part.collective.root);
    }
    return bounds_of(one, kinds);
  }

  /// Returns lower bounds like the overload above, for the given kinds of collectives on the same
  /// number of GPUs.
  NcclBounds bounds_of(const Taken& one, const std::vector<NcclBounds::key_type>& kinds) {
    const std::shared_ptr<const Machine> machine = scenario_.cluster->groups().front().machine;
    const nccl::Predictor& predictor = *predictor_of(one);
    NcclBounds bounds;
    // NCCL may treat parts of a machine as separate nodes. The machine file does not describe the
    // paths between such nodes, so there is no bound.
    if (predictor.communicator().nodes != one.nodes) return bounds;
    for (const auto& kind : kinds) {
      const auto [nodes, gpus, channels] =
          std::tuple(one.nodes, one.gpus, one.strategy->channels.value_or(0));
      auto known = bounds_.find({nodes, gpus, channels, kind.first, kind.second});
      if (known == bounds_.end()) {
        NcclLinkBound bound(machine, scenario_.cluster->network(),
                            std::make_shared<const nccl::Communicator>(predictor.communicator()),
                            kind.first, kind.second);
        known =
            bounds_.try_emplace({nodes, gpus, channels, kind.first, kind.second}, std::move(bound))
                .first;
      }
      bounds.emplace(kind, known->second);
    }
    return bounds;
  }

  [[nodiscard]] std::shared_ptr<const Schedule> even_ways(const Taken& one,
                                                          const Strategy& strategy) const {
    const Collective& c = *one.collective;
    const Partition* const groups = one.partition;
    Strategy sum = strategy;  // a mean's division moves no data
    sum.reduction = Reduction::kSum;
    if (scenario_.plan.graph) {  // the kind and root are the collective's own
      sum.collective = c.kind;
      sum.root = c.root;
      sum.out_of_place = c.out_of_place;
    }
    const Cluster& cluster = *scenario_.cluster;
    if (one.members) {
      std::vector<PartId> devices;
      for (const std::int64_t r : one.members->replicas()) devices.push_back(cluster.replica(r));
      return make_collective(cluster, sum, c.type, c.elements, 0, std::move(devices), one.gpus)
          .schedule;
    }
    const std::int64_t elements = cut_evenly(cluster, sum, c.type, c.elements, groups);
    return (groups ? make_collective(cluster, sum, c.type, elements, 0, *groups)
                   : make_collective(cluster, sum, c.type, elements, 0))
        .schedule;
  }

  const nccl::Predictor* predictor_of(const Taken& one) {
    const int nodes = one.nodes;
    const auto limit = one.strategy->channels;
    const int channels = limit.value_or(0);
    if (nodes > 1 && one.strategy->staging != Staging::kDirect)
      return give_up("the model of NCCL's times does not include staging through host memory"),
             nullptr;
    const auto known = predictors_.find({nodes, one.gpus, channels});
    if (known != predictors_.end()) return known->second.get();
    auto system = system_of(nodes, one.gpus);
    if (!system) return give_up(text_of(system.error())), nullptr;
    nccl::Settings settings = options().settings;
    set_nccl_channels(settings, limit);
    system->ofi_plugin = options().ofi_plugin;
    settings.notes.clear();  // the notes on the variables are already in the scenario
    if (const auto& network = scenario_.cluster->network(); network && network->host) {
      // The system's sockets already follow from these variables.
      settings.socket_threads.reset();
      settings.sockets_per_thread.reset();
    }
    nccl::see_network(*system, options().version, settings);
    for (const std::string& text : settings.notes) note(text);
    system->collnet = nccl::why_no_sharp(*system).empty();
    const auto known_as = nccl::on_machines(scenario_.cluster->machine(0), *system, transport(),
                                            kNetworkField, settings, options().version);
    if (!known_as) return give_up(text_of(known_as.error())), nullptr;
    for (const std::string& text : known_as->notes) note(text);
    if (!takes_calibration(known_as->system)) return nullptr;
    if (const std::string nearest = nccl::note_on_nearest_gpu(scenario_.cluster->machine(0));
        !nearest.empty())
      note(nearest);
    if (nodes > 1 && !transport())
      note(
          fmt::format("NCCL's times assume transport {}, the transport of the network cards of {}, "
                      "because the cluster's network does not state a transport; to use another "
                      "transport, set network {{ transport: … }} ({})",
                      to_string(system->transport), scenario_.cluster->machine(0).name(),
                      transport_names_in_files()));
    apply_tuner(known_as->communicator, known_as->system, settings);
    if (settings.buffers == nccl::Buffers::kSymmetric)
      note(nccl::note_on_symmetric(known_as->communicator));
    auto made = std::make_shared<const nccl::Predictor>(
        known_as->system, known_as->communicator, settings, parameters_, bands_, calibration_);
    const nccl::Predictor* const found = made.get();
    scenario_.predictors.push_back(made);
    predictors_.emplace(std::tuple(nodes, one.gpus, channels), std::move(made));
    return found;
  }

  /// Returns the transport between machines, if the strategy or the network specifies one.
  [[nodiscard]] std::optional<std::string> transport() const {
    if (options().transport) return options().transport;
    const auto& network = scenario_.cluster->network();
    if (!network || network->transport == Transport::kNone) return std::nullopt;
    return std::string(to_string(network->transport));
  }

  [[nodiscard]] Expected<nccl::System> system_of(int nodes, int gpus) const {
    const Cluster& cluster = *scenario_.cluster;
    const Machine& machine = cluster.machine(0);
    const bool pods = cluster.network() && cluster.network()->host &&
                      cluster.network()->host_settings.pod_per_gpu;
    auto system = pods ? nccl::system_of(machine, nodes * gpus, 1, transport(), kNetworkField)
                       : nccl::system_of(machine, nodes, gpus, transport(), kNetworkField);
    if (!system || system->nodes == 1 || !cluster.network()) return system;
    const Network& ours = *cluster.network();
    if (system->transport == Transport::kTcp) system->sockets = sockets(ours, pods ? gpus : 1);
    if (ours.connection) system->sockets.connection_gb_per_s = to_gb_per_s(*ours.connection);
    // The stated latency includes the software of the network's own transport.
    if (!options().transport) {
      const Transport own = ours.transport == Transport::kNone ? system->transport : ours.transport;
      system->more_latency_us = std::max(0.0, to_us(ours.latency) - nccl::usual_latency_us(own));
    }
    // NCCL's parameters already include the overhead of packet headers. The rate of the port is
    // therefore only used if it is clearly lower than the rate of the card.
    constexpr double kHeaders = 0.97;
    if (ours.port_bandwidth && to_gb_per_s(*ours.port_bandwidth) < kHeaders * system->nic_gb_per_s)
      system->nic_gb_per_s = to_gb_per_s(*ours.port_bandwidth);
    return system;
  }

  /// Returns the parameters of the TCP sockets over which NCCL sends messages between hosts.
  static nccl::Sockets sockets(const Network& network, int pods) {
    nccl::Sockets sockets;
    if (network.host && network.host->library == HostLibrary::kNccl)
      sockets = nccl::sockets_of(*network.host);
    sockets.one_flow = network.host_settings.overlay == Overlay::kIpip;
    sockets.pods = pods;
    return sockets;
  }

  [[nodiscard]] const NcclOptions& options() const { return scenario_.nccl; }

  const Library& library_;
  Complaints& complaints_;
  Problems& problems_;
  Scenario& scenario_;
  nccl::Parameters parameters_;
  nccl::ErrorBands bands_;
  std::shared_ptr<const nccl::Calibration> calibration_;
  std::map<int, Strategy> entries_;  ///< by entry of a spec
  std::map<std::tuple<int, int, int>, std::shared_ptr<const nccl::Predictor>> predictors_;
  std::map<std::tuple<int, int, int, CollectiveKind, Rank>, NcclLinkBound>
      bounds_;  ///< the key is the key of `predictors_`, the kind of collective, and the root
  NcclWays ways_;
};

}  // namespace

void assign_times(const Library& library, Scenario& scenario, Complaints& complaints,
                  Problems& problems) {
  Nccl(library, scenario, complaints, problems).take();
}

}  // namespace tutti::core
