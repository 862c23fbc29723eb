#include "core/framework/deepspeed/deepspeed.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/framework/tried_sizes.h"
#include "core/proto/scenario.pb.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {

std::vector<std::vector<int>> buckets_of_deepspeed(std::span<const BucketGradient> gradients,
                                                   std::int64_t elements) {
  std::vector<std::vector<int>> buckets;
  std::int64_t held = 0;
  for (int i = 0; i < static_cast<int>(gradients.size()); ++i) {
    const BucketGradient& gradient = gradients[i];
    const bool fits = !buckets.empty() && held + gradient.elements <= elements &&
                      gradients[buckets.back().front()].type == gradient.type;
    if (!fits) {
      buckets.emplace_back();
      held = 0;
    }
    buckets.back().push_back(i);
    held += gradient.elements;
  }
  return buckets;
}

namespace {

class DeepSpeedFramework final : public FrameworkOf<DeepSpeed> {
 public:
  using FrameworkOf::FrameworkOf;

  [[nodiscard]] std::string_view name() const override { return "deepspeed"; }

  [[nodiscard]] std::string describe_packs() const override {
    return fmt::format("DeepSpeed, buckets of {} elements{}", options().reduce_bucket_size,
                       options().overlap_comm ? ", overlapped" : "");
  }

  /// DeepSpeed divides each bucket in place before it calls NCCL.
  /// SOURCE: deepspeed/runtime/zero/stage_1_and_2.py, average_tensor (with reduce_scatter, the
  /// default).
  void lower(const LoweringTarget&, Strategy& strategy, Complaints&) const override {
    lower_to_one_stream(strategy);
    strategy.division = Division::kBefore;
  }

  [[nodiscard]] bool pack(PackMaker& maker) const override {
    const std::vector<int> order = as_they_become_ready(maker.workload());
    std::vector<Bucket> made = side_by_side(
        order,
        buckets_of_deepspeed(gradients_in(order, maker.workload()), options().reduce_bucket_size),
        maker.workload());
    for (std::size_t i = 0; i < made.size(); ++i) {
      made[i].copied_in = true;  // contiguous_gradients
      if (i + 1 < made.size()) made[i].also_needs = made[i + 1].members.front().variable;
    }
    for (Bucket& bucket : made) maker.add(std::move(bucket));
    if (options().overlap_comm) return true;
    maker.plan().computation_waits = true;
    maker.plan().notes.add(
        "deepspeed.reduces-before-going-on",
        "DeepSpeed without overlap_comm pauses the backward pass until each bucket is reduced");
    return true;
  }

  [[nodiscard]] std::optional<std::vector<TriedValues>> tried_values(
      const Workload& workload) const override {
    return std::vector<TriedValues>{
        {"strategy.deepspeed.reduce_bucket_size", tried_elements(workload)},
        {"strategy.deepspeed.overlap_comm", {"true", "false"}}};
  }
};

std::shared_ptr<const Framework> read_deepspeed(const StrategyText& text) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 50;
  const proto::DeepSpeed& message = text.message.deepspeed();
  DeepSpeed zero;
  zero.reduce_bucket_size =
      text.fields.integer(message, "reduce_bucket_size", "deepspeed", 1, kMaxElements)
          .value_or(zero.reduce_bucket_size);
  zero.overlap_comm = message.overlap_comm();
  refuse_merging(text, "deepspeed");
  return deepspeed(zero);
}

ProgramSetting deepspeed_setting(std::int64_t elements, bool overlaps) {
  return {"DeepSpeed", ProgramSetting::Language::kJson,
          fmt::format("{{\"zero_optimization\": {{\"stage\": 1, \"reduce_bucket_size\": {}, "
                      "\"overlap_comm\": {}, "
                      "\"contiguous_gradients\": true}}}}\n",
                      std::max<std::int64_t>(1, elements), overlaps),
          true, "reduce_bucket_size is in elements"};
}

std::vector<ProgramSetting> deepspeed_settings(const Planned& planned) {
  if (const auto* own = options_of<DeepSpeed>(planned.strategy))
    return {deepspeed_setting(own->reduce_bucket_size, own->overlap_comm)};
  const auto bytes = bytes_to_come_near(planned);
  if (!bytes || traits(planned.strategy.algorithm).nccl != NcclPart::kAll) return {};
  const std::int64_t elements = std::max<std::int64_t>(1, *bytes / element_bytes(planned));
  return {near_setting(
      deepspeed_setting(elements, true),
      {fmt::format("deepspeed.reduce_bucket_size={}", elements), "deepspeed.overlap_comm=true"})};
}

}  // namespace

std::shared_ptr<const Framework> deepspeed(const DeepSpeed& options) {
  return std::make_shared<DeepSpeedFramework>(options);
}

FrameworkKind deepspeed_kind() {
  return {
      "deepspeed", read_deepspeed,    deepspeed_settings, {"strategy.deepspeed.reduce_bucket_size"},
      nullptr,     HostLibrary::kGloo};
}

}  // namespace tutti::core
