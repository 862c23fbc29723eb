#include "core/framework/horovod/horovod.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/framework/buckets.h"
#include "core/framework/tried_sizes.h"
#include "core/proto/scenario.pb.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {

CycleRule::Settings cycles_of(const Horovod& horovod, const Workload& workload,
                              const Cluster& cluster) {
  const auto workers = static_cast<std::uint64_t>(cluster.workers());
  const int rounds = static_cast<int>(workers > 1 ? std::bit_width(workers - 1) : 0);
  const Time latency = cluster.network() ? cluster.network()->latency : Time();
  const Time both_ways = 2 * rounds * latency;
  CycleRule::Settings settings;
  settings.threshold = horovod.fusion_threshold;
  settings.cycle = horovod.cycle;
  settings.agreement = 2 * both_ways;
  settings.first_agreement = 3 * both_ways;
  settings.cached = std::ssize(workload.gradients) <= horovod.cache_capacity;
  if (horovod.cache_capacity == 0) settings.agreement = settings.first_agreement = both_ways;
  return settings;
}

namespace {

/// Returns the reason why Horovod cannot fuse the packs of this strategy; nullopt if it can.
std::optional<StrategyProblem> problem_of_fusion(const Strategy& strategy,
                                                 const std::vector<Communicator>& communicators) {
  if (!traits(strategy.algorithm).in_horovod)
    return StrategyProblem{
        "horovod",
        fmt::format("Horovod reduces with NCCL, MPI or Gloo, not with algorithm {}; use {}",
                    to_string(strategy.algorithm),
                    names_where([](const AlgorithmTraits& t) { return t.in_horovod; }, " or "))};
  if (strategy.compression && strategy.compression->of_packs)
    return StrategyProblem{
        "compression",
        "Horovod compresses gradients, not packs; set compression { of: GRADIENTS }"};
  if (std::any_of(communicators.begin(), communicators.end(),
                  [](const Communicator& c) { return c.splits_model; }))
    return StrategyProblem{"horovod",
                           "Tutti does not model Horovod's fusion for communicators with "
                           "splits_model; remove horovod"};
  return std::nullopt;
}

class HorovodFramework final : public FrameworkOf<Horovod> {
 public:
  using FrameworkOf::FrameworkOf;

  [[nodiscard]] std::string_view name() const override { return "horovod"; }

  [[nodiscard]] std::string describe_packs() const override {
    const double cycle_ms = to_us(options().cycle) / 1e3;
    if (options().fusion_threshold == Bytes())
      return fmt::format("Horovod, without fusion, in cycles of {:g} ms", cycle_ms);
    constexpr std::int64_t kFew = 1 << 16;
    const std::string most = options().fusion_threshold.count() < kFew
                                 ? fmt::format("{} bytes", options().fusion_threshold.count())
                                 : show_mebibytes(options().fusion_threshold);
    return fmt::format("Horovod, at most {} of the ready gradients in each cycle of {:g} ms", most,
                       cycle_ms);
  }

  /// Since version 0.26, Horovod averages with ncclAvg. SOURCE: Horovod's pull request 3646.
  void lower(const LoweringTarget&, Strategy& strategy, Complaints&) const override {
    lower_to_one_stream(strategy);
    strategy.division = Division::kInCollective;
  }

  [[nodiscard]] std::optional<tl::expected<Plan, StrategyProblem>> plan(
      const PlanInput& input) const override {
    if (auto problem = problem_of_fusion(input.strategy, input.communicators))
      return tl::make_unexpected(std::move(*problem));
    return std::nullopt;
  }

  /// Makes one pack per gradient. At run time, Horovod fuses the packs that are ready in the same
  /// cycle.
  [[nodiscard]] bool pack(PackMaker& maker) const override {
    for (const int v : as_they_become_ready(maker.workload()))
      maker.add({{{v, 0, maker.workload().gradients[v].elements, 0}}});
    maker.plan().gate =
        std::make_shared<CycleRule>(cycles_of(options(), maker.workload(), maker.cluster()));
    return true;
  }

  [[nodiscard]] std::optional<std::vector<TriedValues>> tried_values(
      const Workload& workload) const override {
    // The list has the values that Horovod's autotuner tries, and some shorter cycles. SOURCE:
    // horovod/common/parameter_manager.cc.
    return std::vector<TriedValues>{{"strategy.horovod.cycle_time_ms",
                                     {"0.25", "0.5", "1", "2.5", "5", "10", "25", "50", "100"}},
                                    {"strategy.horovod.fusion_threshold", tried_bytes(workload)}};
  }
};

std::shared_ptr<const Framework> read_horovod(const StrategyText& text) {
  constexpr std::int64_t kMaxFusedBytes = std::int64_t{1} << 50;
  constexpr std::int64_t kUsualThreshold = std::int64_t{128} << 20;
  const proto::Horovod& message = text.message.horovod();
  Fields& fields = text.fields;
  Horovod options;
  options.fusion_threshold =
      Bytes(fields.integer(message, "fusion_threshold", "horovod", 0, kMaxFusedBytes)
                .value_or(kUsualThreshold));
  options.cycle = time_from_us(
      1e3 * fields.number(message, "cycle_time_ms", "horovod", {0.001, 1e6}).value_or(1));
  options.cache_capacity =
      static_cast<std::int32_t>(fields.integer(message, "cache_capacity", "horovod", 0, 1 << 30)
                                    .value_or(options.cache_capacity));
  if (text.message.launch() != proto::Strategy::LAUNCH_DEFAULT)
    fields.complain_at(text.message, "launch", ProblemCode::kUnused,
                       "strategy: launch: Horovod always launches its packs one after the other, "
                       "in one stream; remove launch");
  refuse_merging(text, "horovod");
  return horovod(options);
}

std::vector<ProgramSetting> horovod_settings(const Planned& planned) {
  if (const auto* own = options_of<Horovod>(planned.strategy))
    return {
        {"Horovod", ProgramSetting::Language::kShell,
         fmt::format("export HOROVOD_FUSION_THRESHOLD={} HOROVOD_CYCLE_TIME={:g} "
                     "HOROVOD_CACHE_CAPACITY={}\n",
                     own->fusion_threshold.count(), to_us(own->cycle) / 1e3, own->cache_capacity),
         true, "the threshold is in bytes, and the cycle time in milliseconds"}};
  const auto bytes = bytes_to_come_near(planned);
  const AlgorithmTraits& algorithm = traits(planned.strategy.algorithm);
  if (!bytes || algorithm.torch_backend.empty()) return {};
  ProgramSetting near{
      "Horovod", ProgramSetting::Language::kShell,
      fmt::format("export HOROVOD_FUSION_THRESHOLD={}\n", *bytes), false,
      fmt::format(
          "the threshold is in bytes (with horovodrun: --fusion-threshold-mb {}); Horovod {}",
          in_mebibytes(*bytes), kOtherPackingRule)};
  if (!algorithm.uses_nccl()) near.remark += "; Horovod must be built with Gloo or MPI";
  return {near_setting(std::move(near), {fmt::format("horovod.fusion_threshold={}", *bytes)})};
}

}  // namespace

std::shared_ptr<const Framework> horovod(const Horovod& options) {
  return std::make_shared<HorovodFramework>(options);
}

FrameworkKind horovod_kind() {
  return {"horovod",
          read_horovod,
          horovod_settings,
          {"strategy.horovod.fusion_threshold", "strategy.horovod.cycle_time_ms",
           "strategy.horovod.cache_capacity"},
          nullptr,
          HostLibrary::kMpi};
}

}  // namespace tutti::core
