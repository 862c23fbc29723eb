#include "core/framework/megatron/megatron.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "core/framework/tried_sizes.h"
#include "core/proto/scenario.pb.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {

std::vector<std::vector<int>> buckets_of_megatron(std::span<const BucketGradient> gradients,
                                                  std::int64_t elements) {
  std::vector<DataType> types;
  for (const BucketGradient& gradient : gradients) {
    if (std::find(types.begin(), types.end(), gradient.type) == types.end())
      types.push_back(gradient.type);
  }
  std::vector<std::vector<int>> buckets;
  for (const DataType type : types) {
    std::vector<int> filling;
    std::int64_t held = 0;
    for (int i = 0; i < static_cast<int>(gradients.size()); ++i) {
      const BucketGradient& gradient = gradients[i];
      if (gradient.type != type) continue;
      filling.push_back(i);
      held += gradient.elements;
      if (held < elements) continue;
      buckets.push_back(std::move(filling));
      filling = {};
      held = 0;
    }
    if (!filling.empty()) buckets.push_back(std::move(filling));
  }
  return buckets;
}

std::int64_t usual_megatron_bucket(std::int64_t replicas) {
  return std::max<std::int64_t>(40'000'000, 1'000'000 * replicas);
}

namespace {

class MegatronFramework final : public FrameworkOf<Megatron> {
 public:
  using FrameworkOf::FrameworkOf;

  [[nodiscard]] std::string_view name() const override { return "megatron"; }

  [[nodiscard]] std::string describe_packs() const override {
    if (!options().overlap_grad_reduce) return "Megatron, one bucket";
    return options().bucket_size
               ? fmt::format("Megatron, buckets of {} elements", *options().bucket_size)
               : "Megatron, buckets of the default size";
  }

  /// Megatron multiplies each bucket by 1/n before it calls NCCL, unless average_in_collective is
  /// set, which is off by default.
  /// SOURCE: megatron/core/distributed/param_and_grad_buffer.py, start_grad_sync.
  void lower(const LoweringTarget&, Strategy& strategy, Complaints&) const override {
    lower_to_one_stream(strategy);
    strategy.division =
        options().average_in_collective ? Division::kInCollective : Division::kBefore;
  }

  [[nodiscard]] bool pack(PackMaker& maker) const override {
    const std::vector<int> order = last_created_first(maker.workload());
    const bool overlaps = options().overlap_grad_reduce;
    const std::int64_t size =
        overlaps ? options().bucket_size.value_or(usual_megatron_bucket(maker.replicas()))
                 : std::numeric_limits<std::int64_t>::max();
    for (Bucket& bucket :
         side_by_side(order, buckets_of_megatron(gradients_in(order, maker.workload()), size),
                      maker.workload())) {
      bucket.needs_all_gradients = !overlaps;
      maker.add(std::move(bucket));
    }
    return true;
  }

  [[nodiscard]] std::optional<std::vector<TriedValues>> tried_values(
      const Workload& workload) const override {
    return std::vector<TriedValues>{{"strategy.megatron.ddp_bucket_size", tried_elements(workload)},
                                    {"strategy.megatron.overlap_grad_reduce", {"true", "false"}}};
  }
};

std::shared_ptr<const Framework> read_megatron(const StrategyText& text) {
  constexpr std::int64_t kMaxElements = std::int64_t{1} << 50;
  const proto::Megatron& message = text.message.megatron();
  Megatron options;
  options.overlap_grad_reduce = message.overlap_grad_reduce();
  options.average_in_collective = message.average_in_collective();
  options.bucket_size =
      text.fields.integer(message, "ddp_bucket_size", "megatron", 1, kMaxElements);
  if (options.bucket_size && !options.overlap_grad_reduce) {
    text.fields.complain_at(
        message, "ddp_bucket_size", ProblemCode::kUnused,
        "megatron: without overlap_grad_reduce there is only one bucket, so ddp_bucket_size has no "
        "effect; also set overlap_grad_reduce, or remove ddp_bucket_size");
  }
  if (options.average_in_collective && text.message.reduction() != proto::Strategy::MEAN) {
    text.fields.complain_at(message, "average_in_collective", ProblemCode::kUnused,
                            "megatron: average_in_collective needs reduction: MEAN; set this "
                            "reduction, or remove average_in_collective");
  }
  refuse_merging(text, "megatron");
  return megatron(options);
}

ProgramSetting megatron_setting(std::optional<std::int64_t> elements, bool overlaps,
                                bool average_in_collective = false) {
  std::string text = "python3 pretrain.py";
  if (average_in_collective) text += " --ddp-average-in-collective";
  if (overlaps) text += " --overlap-grad-reduce";
  if (elements && overlaps)
    text += fmt::format(" --ddp-bucket-size {}", std::max<std::int64_t>(1, *elements));
  return {"Megatron-LM", ProgramSetting::Language::kShell, text + "\n", true,
          "--ddp-bucket-size counts elements"};
}

std::vector<ProgramSetting> megatron_settings(const Planned& planned) {
  if (const auto* own = options_of<Megatron>(planned.strategy))
    return {
        megatron_setting(own->bucket_size, own->overlap_grad_reduce, own->average_in_collective)};
  const auto bytes = bytes_to_come_near(planned);
  if (!bytes || traits(planned.strategy.algorithm).nccl != NcclPart::kAll) return {};
  const std::int64_t elements = std::max<std::int64_t>(1, *bytes / element_bytes(planned));
  return {near_setting(
      megatron_setting(elements, true),
      {fmt::format("megatron.ddp_bucket_size={}", elements), "megatron.overlap_grad_reduce=true"})};
}

}  // namespace

std::shared_ptr<const Framework> megatron(const Megatron& options) {
  return std::make_shared<MegatronFramework>(options);
}

FrameworkKind megatron_kind() {
  return {"megatron", read_megatron,     megatron_settings, {"strategy.megatron.ddp_bucket_size"},
          nullptr,    HostLibrary::kGloo};
}

}  // namespace tutti::core
