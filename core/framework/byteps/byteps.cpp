#include "core/framework/byteps/byteps.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/framework/byteps/push_pull_plan.h"
#include "core/framework/tried_sizes.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {

std::vector<std::int64_t> partitions_of_byteps(BucketGradient gradient, Bytes partition) {
  const std::int64_t most = partition / size_of(gradient.type);
  TUTTI_CHECK(most >= 1, "partitions of {} bytes", partition.count());
  std::vector<std::int64_t> parts;
  for (std::int64_t left = gradient.elements; left > 0; left -= parts.back())
    parts.push_back(std::min(left, most));
  return parts;
}

Bytes byteps_partition(Bytes requested, int replicas_per_worker) {
  const std::int64_t unit = std::int64_t{4096} * replicas_per_worker;
  return Bytes((requested.count() + unit - 1) / unit * unit);
}

std::vector<Bucket> partitions_of(const BytePs& options, const Workload& workload,
                                  int replicas_per_worker) {
  std::vector<Bucket> made;
  for (const int v : as_they_become_ready(workload)) {
    const Variable& gradient = workload.gradients[v];
    std::int64_t first = 0;
    for (const std::int64_t count :
         partitions_of_byteps({gradient.elements, gradient.type},
                              byteps_partition(options.partition, replicas_per_worker))) {
      made.push_back({{{v, first, count, 0}}});
      first += count;
    }
  }
  return made;
}

namespace {

constexpr std::string_view kBytePsPath = "strategy.byteps";
constexpr std::string_view kBytePsServersPath = "strategy.byteps.servers_on_workers";

/// Returns the servers that store partitions. If the servers cannot be determined, reports a
/// problem and returns nullopt.
std::optional<Servers> servers_of(const BytePs& options, const Cluster& cluster,
                                  Complaints& complaints) {
  const std::int64_t workers = cluster.workers() - cluster.servers();
  Servers servers;
  servers.placement = Placement::kByHash;
  servers.reads = servers.updates = false;
  if (cluster.servers() > 0) {
    servers.first = workers;
    servers.count = static_cast<int>(cluster.servers());
    if (!options.servers_on_workers) return servers;
    complaints.complain_at(
        kBytePsServersPath, ProblemCode::kConflict,
        "byteps: servers_on_workers and workers {{ server: true }} both set the servers; keep one");
    return std::nullopt;
  }
  if (!options.servers_on_workers) {
    complaints.complain_at(
        kBytePsPath, ProblemCode::kMissing,
        "byteps: BytePS needs servers; set servers_on_workers: {}, add workers {{ server: true }} "
        "to the cluster, or set an algorithm without servers, such as nccl",
        workers);
    return std::nullopt;
  }
  const auto count =
      complaints.in_range(kBytePsServersPath, "byteps", *options.servers_on_workers, 1, workers);
  if (!count) return std::nullopt;
  servers.count = static_cast<int>(*count);
  if (cluster.part(cluster.replica(0)).kind == PartKind::kGpu) return servers;
  complaints.complain_at(kBytePsServersPath, ProblemCode::kUnsupported,
                         "byteps: servers_on_workers: Tutti does not model a CPU that is both a "
                         "replica and a server; add workers {{ server: true }} to the cluster");
  return std::nullopt;
}

class BytePsFramework final : public FrameworkOf<BytePs> {
 public:
  using FrameworkOf::FrameworkOf;

  [[nodiscard]] std::string_view name() const override { return "byteps"; }

  [[nodiscard]] std::string describe_packs() const override {
    std::string text =
        "BytePS, partitions of " + std::to_string(options().partition.count()) + " bytes";
    if (options().credit > 0) text += fmt::format(", {} at a time", options().credit);
    if (options().hash != KeyHash::kDjb2)
      text += fmt::format(", hash {}", to_string(options().hash));
    return text;
  }

  [[nodiscard]] bool chooses_algorithm() const override { return options().pushes; }

  /// Does not change how launches are ordered. BytePS's servers (BaseAlgorithm::kOnServers) have
  /// concurrent launches: several partitions move at the same time. With `algorithm`, launches are
  /// those of the algorithm. NCCL's are serial, as in BytePS, which passes all partitions to NCCL
  /// in one stream by default. SOURCE: byteps/common/nccl_manager.cc, GetStream and
  /// BYTEPS_NCCL_NUM_RINGS.
  void lower(const LoweringTarget& target, Strategy& strategy,
             Complaints& complaints) const override {
    strategy.launch_order = LaunchOrder::kPlanOrder;
    strategy.update = strategy.requested_update.value_or(Update::kAfterAll);
    strategy.division = Division::kAfter;  // SOURCE: byteps/torch/ops.cc, StartTask
    if (!options().pushes) return;
    strategy.take(BaseAlgorithm::kOnServers);
    strategy.distribution_name = "BytePS";
    strategy.checkpoint.refused = {"",
                                   "Tutti does not model on_read variables with BytePS's servers; "
                                   "remove on_read from the workload"};
    if (target.cluster.workers() - target.cluster.servers() < 2)
      return complaints.complain_at(
          kBytePsPath, ProblemCode::kConflict,
          "byteps: with a single worker, BytePS reduces with NCCL instead of servers; set "
          "algorithm: \"nccl\" in addition to byteps");
    strategy.servers = servers_of(options(), target.cluster, complaints);
  }

  [[nodiscard]] std::optional<tl::expected<Plan, StrategyProblem>> plan(
      const PlanInput& input) const override {
    if (!options().pushes) return std::nullopt;
    return plan_push_pull(options(), input);
  }

  [[nodiscard]] bool pack(PackMaker& maker) const override {
    for (Bucket& bucket :
         partitions_of(options(), maker.workload(), maker.cluster().replicas_per_worker()))
      maker.add(std::move(bucket));
    return true;
  }

  [[nodiscard]] std::optional<std::vector<TriedValues>> tried_values(
      const Workload& workload) const override {
    std::vector<TriedValues> tried{{"strategy.byteps.partition_bytes", tried_bytes(workload)}};
    if (!options().pushes) return tried;
    tried.push_back({"strategy.byteps.scheduling_credit", {"0", "1", "2", "4", "8", "16"}});
    tried.push_back({"strategy.byteps.key_hash_fn", {"DJB2", "NAIVE", "SDBM"}});
    return tried;
  }
};

ProgramSetting byteps_setting(std::int64_t bytes) {
  return {"BytePS", ProgramSetting::Language::kShell,
          fmt::format("export BYTEPS_PARTITION_BYTES={}\n", std::max<std::int64_t>(1, bytes)), true,
          "BYTEPS_PARTITION_BYTES is in bytes; BytePS rounds it up to whole pages"};
}

std::vector<ProgramSetting> byteps_settings(const Planned& planned) {
  /// The minimum partition size in a scenario.
  constexpr std::int64_t kMinPartition = 8;
  if (const auto* own = options_of<BytePs>(planned.strategy)) {
    ProgramSetting setting = byteps_setting(own->partition.count());
    if (own->pushes)
      setting.text += fmt::format(
          "export BYTEPS_SCHEDULING_CREDIT={} BYTEPS_KEY_HASH_FN={} DMLC_NUM_SERVER={}\n",
          own->credit, to_string(own->hash), planned.strategy.servers->count);
    return {std::move(setting)};
  }
  const auto bytes = bytes_to_come_near(planned);
  if (!bytes || traits(planned.strategy.algorithm).sums_on != SumsOn::kHosts) return {};
  const std::int64_t partition = std::max<std::int64_t>(kMinPartition, *bytes);
  return {near_setting(byteps_setting(partition),
                       {fmt::format("byteps.partition_bytes={}", partition)})};
}

}  // namespace

std::shared_ptr<const Framework> byteps(const BytePs& options) {
  return std::make_shared<BytePsFramework>(options);
}

FrameworkKind byteps_kind() {
  return {"byteps", read_byteps,         byteps_settings, {"strategy.byteps.partition_bytes"},
          nullptr,  HostLibrary::kPsLite};
}

}  // namespace tutti::core
