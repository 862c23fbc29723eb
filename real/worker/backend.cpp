// Maps the replicas of a scenario to this machine's hardware: to host memory, to GPUs with Tutti's
// kernels, or to GPUs with NCCL. The replicas of all workers on a machine are assigned to the
// machine's GPUs in turn. If there are fewer GPUs than replicas, several ranks share a GPU. Tutti's
// kernels allow that. NCCL rejects two ranks on one GPU of the same host. If ranks of different
// processes share a GPU, every process therefore tells NCCL that it is a separate host, and NCCL
// connects the processes by sockets. NCCL executes either whole collectives, in one communicator of
// all ranks, or only the communication inside each worker. In the second case, a schedule of Tutti
// executes the communication between workers. This file creates this schedule for each pack.

#include "real/worker/backend.h"

#include <cstdlib>

#include <fmt/format.h>

#include "core/strategy/algorithm_table.h"
#include "real/cuda/cuda_devices.h"
#include "real/nccl/nccl_collectives.h"

namespace tutti::real {

using core::Error;
using core::Expected;

std::string to_string(Backend backend) {
  switch (backend) {
    case Backend::kTcp: return "tcp";
    case Backend::kCuda: return "cuda";
    case Backend::kNccl: return "nccl";
  }
  return "";
}

std::optional<Backend> parse_backend(const std::string& name) {
  for (const Backend backend : {Backend::kTcp, Backend::kCuda, Backend::kNccl}) {
    if (name == to_string(backend)) return backend;
  }
  return std::nullopt;
}

namespace {

/// Checks that every replica runs on a GPU of the scenario. (In a cluster, either all machines or
/// no machines have GPUs.)
Expected<void> check_parts(Backend backend, const core::Scenario& scenario) {
  const core::Cluster& cluster = *scenario.cluster;
  std::int64_t worker = 0;
  for (const core::WorkerGroup& group : cluster.groups()) {
    const core::PartId first = cluster.replica(worker * cluster.replicas_per_worker());
    if (cluster.part(first).kind != core::PartKind::kGpu) {
      return tl::make_unexpected(
          Error::request({core::ProblemCode::kConflict, "--backend"},
                         fmt::format("--backend {}: {} is a CPU, but {} needs GPUs; use --backend "
                                     "tcp, or a cluster of machines with GPUs",
                                     to_string(backend), cluster.part_name(first),
                                     backend == Backend::kNccl ? "NCCL" : "CUDA"),
                         {scenario.file, 0, 0}));
    }
    worker += group.count;
  }
  return {};
}

/// Returns, for each pack, the traits of the pack's algorithm.
std::vector<const core::AlgorithmTraits*> algorithms_of(const core::Scenario& scenario) {
  std::vector<const core::AlgorithmTraits*> algorithms;
  for (const core::Pack& pack : scenario.plan.packs)
    algorithms.push_back(&core::traits(core::strategy_of(scenario.strategy, pack).algorithm));
  return algorithms;
}

/// Checks that all packs use NCCL in the same way: either NCCL executes every pack completely, or
/// it executes only the communication inside workers of every pack.
Expected<void> check_algorithms(const core::Scenario& scenario) {
  bool whole = false, inside = false;
  for (const core::AlgorithmTraits* algorithm : algorithms_of(scenario)) {
    if (!algorithm->uses_nccl()) {
      return tl::make_unexpected(Error::request(
          {core::ProblemCode::kConflict, "--backend"},
          fmt::format(
              "--backend nccl does not support algorithm \"{}\", but only {}; use --backend cuda",
              algorithm->name,
              core::names_where([](const core::AlgorithmTraits& t) { return t.uses_nccl(); })),
          {scenario.file, 0, 0}));
    }
    (algorithm->nccl == core::NcclPart::kAll ? whole : inside) = true;
  }
  if (!whole || !inside) return {};
  return tl::make_unexpected(Error::request(
      {core::ProblemCode::kConflict, "--backend"},
      "--backend nccl: all_reduce_spec selects nccl for some packs, and NCCL only inside workers "
      "for other packs; use the same kind of algorithm for all packs, or --backend cuda",
      {scenario.file, 0, 0}));
}

bool shares_gpus(const BackendOptions& options, int per_worker, int gpus) {
  return options.workers_here * per_worker > gpus;
}

/// Sets environment variables by which each process tells NCCL that it is a separate host. NCCL
/// rejects two ranks on one GPU of the same host, and connects ranks on different hosts by sockets.
/// The user's own settings are kept. (docs/running-on-gpus.md)
void set_separate_host_id(std::int32_t worker, bool all_here) {
  const std::string name = fmt::format("tutti-worker-{}", worker);
  for (const auto& [setting, value] :
       {std::pair{"NCCL_HOSTID", name.c_str()}, std::pair{"NCCL_NET", "Socket"},
        std::pair{"NCCL_P2P_DISABLE", "1"}, std::pair{"NCCL_SHM_DISABLE", "1"},
        std::pair{"NCCL_MNNVL_ENABLE", "0"}})
    ::setenv(setting, value, 0);
  // Loopback does not reach processes on other machines.
  if (all_here) ::setenv("NCCL_SOCKET_IFNAME", "lo", 0);
}

}  // namespace

Expected<void> check_backend(Backend backend, const core::Scenario& scenario, bool here) {
  if (backend == Backend::kTcp) return {};
  if (auto parts = check_parts(backend, scenario); !parts) return parts;
  if (backend == Backend::kNccl) {
    if (auto checked = check_algorithms(scenario); !checked) return checked;
  }
  if (!here) return {};
  const auto api = CudaDevices::load();
  if (!api) return tl::make_unexpected(api.error());
  const auto count = CudaDevices::count(**api);
  if (!count) return tl::make_unexpected(count.error());
  if (backend != Backend::kNccl) return {};
  const auto nccl = NcclCollectives::load();
  if (!nccl) return tl::make_unexpected(nccl.error());
  const int per_worker = scenario.cluster->replicas_per_worker();
  if (per_worker <= *count) return {};
  return tl::make_unexpected(Error::request(
      {core::ProblemCode::kTooLarge, "--backend"},
      fmt::format(
          "--backend nccl: NCCL needs one GPU per rank, but a worker has {} ranks and this machine "
          "has {} GPUs; reduce replicas, or use --backend cuda, where ranks can share a GPU",
          per_worker, *count),
      {scenario.file, 0, 0}));
}

Expected<std::unique_ptr<Devices>> make_devices(const BackendOptions& options,
                                                const core::Scenario& scenario) {
  if (options.backend == Backend::kTcp) return std::make_unique<HostDevices>();
  if (auto right = check_backend(options.backend, scenario, true); !right)
    return tl::make_unexpected(right.error());
  const auto api = CudaDevices::load();
  const auto count = CudaDevices::count(**api);
  const core::Cluster& cluster = *scenario.cluster;
  const int per_worker = cluster.replicas_per_worker();
  CudaOptions cuda;
  cuda.spin = options.spin;
  for (int i = 0; i < per_worker; ++i) {
    const auto rank = static_cast<core::Rank>(options.worker * per_worker + i);
    const int place = options.workers_before * per_worker + i;
    cuda.gpus.push_back({rank, cluster.part_name(cluster.replica(rank)), place % *count});
  }
  const bool shares = shares_gpus(options, per_worker, *count);
  cuda.shared = shares && options.workers_here > 1 &&
                options.backend == Backend::kCuda;  // NCCL needs further checks
  if (options.backend == Backend::kNccl && shares)
    set_separate_host_id(options.worker, options.workers_here == cluster.workers());
  auto devices = CudaDevices::open(**api, std::move(cuda));
  if (!devices) return tl::make_unexpected(devices.error());
  return std::move(*devices);
}

bool needs_nccl_id(Backend backend, const core::Scenario& scenario) {
  return backend == Backend::kNccl && algorithms_of(scenario).front()->nccl == core::NcclPart::kAll;
}

Expected<std::string> make_nccl_id() {
  const auto api = NcclCollectives::load();
  if (!api) return tl::make_unexpected(api.error());
  return NcclCollectives::make_id(**api);
}

Expected<CollectivesMaker> make_collectives(const BackendOptions& options,
                                            const core::Scenario& scenario, Transport& transport,
                                            Devices& devices, const std::string& nccl_id,
                                            const std::function<bool()>& idle) {
  if (options.backend != Backend::kNccl) return CollectivesMaker();
  const auto api = NcclCollectives::load();
  if (!api) return tl::make_unexpected(api.error());
  const core::Cluster& cluster = *scenario.cluster;
  const int per_worker = cluster.replicas_per_worker();
  NcclOptions nccl;
  nccl.timeout = options.timeout;
  nccl.id = nccl_id;
  const auto gpus = CudaDevices::load().and_then(
      [](const TuttiCudaApi* cuda) { return CudaDevices::count(*cuda); });
  if (!gpus) return tl::make_unexpected(gpus.error());
  if (scenario.strategy.out_of_place && nccl_id.empty() && per_worker == 1) {
    return tl::make_unexpected(core::Error::request(
        {core::ProblemCode::kConflict, "--backend"},
        fmt::format("--backend nccl: with one GPU per worker, NCCL executes no part of {}, and "
                    "Tutti's own part works only in place; use --place in",
                    core::to_string(scenario.strategy.algorithm))));
  }
  nccl.follow_channels = options.follow_channels;
  nccl.separate_host_ids = shares_gpus(options, per_worker, *gpus);
  nccl.ranks_in_all = nccl_id.empty() ? 0 : static_cast<std::int32_t>(cluster.replicas());
  for (int i = 0; i < per_worker; ++i)
    nccl.ranks.push_back(static_cast<core::Rank>(options.worker * per_worker + i));
  if (scenario.strategy.reduction == core::Reduction::kMean && cluster.replicas() > 1)
    nccl.factor = 1.0 / static_cast<double>(cluster.replicas());
  for (std::size_t p = 0; nccl_id.empty() && p < scenario.plan.packs.size(); ++p) {
    const core::Pack& pack = scenario.plan.packs[p];
    const core::Collective& whole = scenario.plan.collective(pack);
    auto across = core::make_across_workers(cluster, core::strategy_of(scenario.strategy, pack),
                                            whole.type, whole.elements, pack.turn);
    if (!across) break;  // there is only one worker
    nccl.across.push_back(std::move(*across));
  }
  auto opened = NcclCollectives::open(**api, transport, static_cast<CudaDevices&>(devices),
                                      std::move(nccl), idle);
  if (!opened) return tl::make_unexpected(opened.error());
  auto made = std::make_shared<std::unique_ptr<NcclCollectives>>(std::move(*opened));
  return [made](InterpreterListener& listener, bool) -> std::unique_ptr<Collectives> {
    (*made)->connect(listener);
    return std::move(*made);
  };
}

}  // namespace tutti::real
