#include "real/coordinator/tcp_executor.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/lowering/gates.h"
#include "core/lowering/reduction_scope.h"
#include "core/lowering/sparse_plan.h"
#include "core/scenario/custom.h"
#include "real/coordinator/coordinator.h"
#include "real/worker/machine.h"

namespace tutti::real {

using core::Error;
using core::Expected;

namespace {

/// The maximum number of workers that the coordinator starts on this machine.
constexpr std::int64_t kMaxHere = 64;

Expected<void> problems_of(const core::Scenario& scenario, const Gathering& gathering,
                           bool emulates, Backend backend) {
  const std::int64_t workers = scenario.cluster->workers();
  const auto wrong = [&](core::ProblemKind kind, const std::string& text) {
    return tl::make_unexpected(Error::request(std::move(kind), text, {scenario.file, 0, 0}));
  };
  if (scenario.plan.graph) {
    return wrong({core::ProblemCode::kUnsupported, "Workload.execution_trace"},
                 "execution traces can only be simulated; use tutti simulate");
  }
  if (!scenario.communicators.empty()) {
    return wrong(
        {core::ProblemCode::kUnsupported, "Communicator"},
        fmt::format(
            "a real run does not support communicators such as \"{}\", because it performs one "
            "collective of all replicas per pack; use tutti simulate, or remove communicators",
            scenario.communicators.front().name));
  }
  if (scenario.plan.fuses() && backend != Backend::kTcp) {
    return wrong(
        {core::ProblemCode::kConflict, "--backend"},
        fmt::format("--backend {} does not support packs that are fused at run time, because the "
                    "host copies fused packs; use --backend tcp, or tutti simulate",
                    to_string(backend)));
  }
  if (scenario.plan.fuses() && emulates) {
    return wrong(
        {core::ProblemCode::kConflict, "--emulate"},
        "links cannot be emulated for packs that are fused in cycles, because emulation needs to "
        "know all collectives in advance; remove --emulate, or use tutti simulate");
  }
  if (const core::PlanGate gate(scenario.plan);
      gate.any() && gate.scope() == core::GateScope::kAll && !scenario.plan.fuses()) {
    return wrong(
        {core::ProblemCode::kUnsupported, "Strategy"},
        fmt::format("in a real run, a gate that decides for all workers together when packs start "
                    "must fuse packs, but the gate \"{}\" does not; use tutti simulate",
                    gate.rule().name()));
  }
  const core::ReductionScope who = core::reduction_scope(scenario.strategy, scenario.plan);
  const bool asynchronous = who == core::ReductionScope::kAsyncServers;
  if (who == core::ReductionScope::kNoReduction || who == core::ReductionScope::kGroups) {
    return wrong({core::ProblemCode::kUnsupported, "Strategy"},
                 fmt::format("{}: a real run does not support groups of replicas, because it "
                             "performs one collective of all replicas per pack; use tutti simulate",
                             scenario.strategy.distribution_name));
  }
  if (asynchronous && core::has_slices(scenario.workload)) {
    return wrong({core::ProblemCode::kUnsupported, "Workload.sparse_gradient"},
                 "a real run does not support sparse gradients of asynchronous workers; use tutti "
                 "simulate, or remove sparse_gradient");
  }
  if (asynchronous && emulates) {
    return wrong({core::ProblemCode::kConflict, "--emulate"},
                 "links cannot be emulated for asynchronous workers, because emulation follows "
                 "collectives of all ranks; remove --emulate, or use tutti simulate");
  }
  if (emulates && scenario.cluster->fabric()) {
    return wrong(
        {core::ProblemCode::kConflict, "--emulate"},
        fmt::format("links between switches ({}) cannot be emulated, because an emulated link "
                    "belongs to a worker process, and these links belong to no worker; set "
                    "network.kind to ONE_SWITCH or RAILS, or use tutti simulate",
                    scenario.cluster->fabric()->describe()));
  }
  if (gathering.spawn == Gathering::Spawn::kAll && workers > kMaxHere) {
    return wrong({core::ProblemCode::kTooLarge, "Cluster.workers"},
                 fmt::format("{} workers exceed the limit of {} processes on this machine; "
                             "run fewer workers (--ranks), or let workers join from other "
                             "machines (--listen)",
                             workers, kMaxHere));
  }
  if (gathering.spawn == Gathering::Spawn::kAll && !gathering.worker_networks.empty()) {
    return wrong(
        {core::ProblemCode::kUnused, "--worker-network"},
        "--worker-network applies only to workers that join from elsewhere, but this command "
        "starts all workers; remove --worker-network, or give --listen");
  }
  if (gathering.ranks > 0 && gathering.ranks != workers) {
    return wrong({core::ProblemCode::kConflict, "--launcher"},
                 fmt::format("the scenario has {} workers, but {} processes were started; start "
                             "one process for each worker",
                             workers, gathering.ranks));
  }
  const auto files = static_cast<std::int64_t>(allow_many_files());
  constexpr std::int64_t kOtherFiles = 100;  // libraries, timelines, pipes to children
  if (workers + kOtherFiles > files) {
    return wrong(
        {core::ProblemCode::kTooLarge, "Cluster.workers"},
        fmt::format("{} workers need {} open files for their connections, but a process may "
                    "open only {} here; raise the limit (ulimit -n {}), or use fewer workers",
                    workers, workers + kOtherFiles, files, workers + kOtherFiles));
  }
  return {};
}

/// Checks that all workers fit into this machine's memory, if all of them run on this machine.
/// Warns once if the memory may be insufficient.
Expected<void> check_memory_here(TcpExecutorOptions& options, const core::Scenario& scenario) {
  MemoryOptions memory;
  memory.backend = options.backend;
  memory.shared_memory = options.transport == "shm";
  memory.streams = options.streams;
  memory.verify = options.verify;
  memory.loop = options.loop.has_value();
  memory.steps_at_once = steps_at_once(scenario, scenario.cluster->workers());
  MemoryNeed need;
  for (std::int64_t w = 0; w < scenario.cluster->workers(); ++w)
    need += memory_need(scenario, static_cast<std::int32_t>(w), memory);
  auto fits = check_memory(scenario, need, scenario.cluster->workers(), options.free_memory);
  if (!fits || !options.warn) return fits;
  if (const std::string warning = memory_warning(need, options.free_memory); !warning.empty())
    std::exchange(options.warn, {})(warning);
  return fits;
}

}  // namespace

TcpExecutor::TcpExecutor(TcpExecutorOptions options)
    : options_(std::move(options)), joining_(std::max(options_.gathering.ranks - 1, 0)) {}

/// Listens for workers. The address is announced once.
Expected<void> TcpExecutor::open() {
  if (listener_) return {};
  auto listener = Listener::open(options_.gathering.listen);
  if (!listener) return tl::make_unexpected(listener.error());
  if (options_.gathering.announce) {
    if (auto announced = options_.gathering.announce(listener->address()); !announced)
      return announced;
  }
  listener_.emplace(std::move(*listener));
  return {};
}

Expected<void> TcpExecutor::run(const core::Scenario& scenario, const core::RecordOptions& record,
                                const core::RunControl& control, core::TimelineSink& sink) {
  Gathering& gathering = options_.gathering;
  if (gathering.secret.empty() && gathering.spawn == Gathering::Spawn::kAll)
    gathering.secret = random_secret();
  auto good =
      problems_of(scenario, gathering, static_cast<bool>(options_.time_scale), options_.backend);
  if (good) good = core::prove_custom(scenario, core::CustomProof::kWhole);
  // Workers that join from elsewhere check the backend and the memory of their own machines.
  const bool all_here = gathering.spawn == Gathering::Spawn::kAll;
  if (good && options_.integrity && gathering.secret.empty())
    good = tl::make_unexpected(Error::request(
        {core::ProblemCode::kMissing, "--secret-file"},
        "--integrity needs a secret that all workers share: set TUTTI_SECRET, or give "
        "--secret-file FILE (openssl rand -hex 16 makes one)"));
  if (good) good = check_backend(options_.backend, scenario, all_here);
  if (good && all_here) good = check_memory_here(options_, scenario);
  if (!good) {
    refuse_joiners(good.error());
    return good;
  }
  if (auto opened = open(); !opened) return opened;
  joining_ = 0;
  const auto done = coordinate(options_, scenario, record, control, sink, listener_);
  if (!done || !*done) listener_.reset();
  if (!done) return tl::make_unexpected(done.error());
  gathering.met = {};
  const std::int64_t here = gathering.spawn == Gathering::Spawn::kAll ? scenario.cluster->workers()
                            : gathering.spawn == Gathering::Spawn::kFirst ? 1
                                                                          : 0;
  if (*done) joining_ = scenario.cluster->workers() - here;
  return {};
}

void TcpExecutor::refuse_joiners(const Error& why) {
  const std::size_t others = std::exchange(joining_, 0);
  if (others > 0 && open()) real::refuse_joiners(options_.gathering, others, *listener_, why);
}

}  // namespace tutti::real
