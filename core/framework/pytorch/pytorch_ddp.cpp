#include "core/framework/pytorch/pytorch_ddp.h"

#include <map>

#include <fmt/format.h>

#include "core/framework/tried_sizes.h"
#include "core/proto/scenario.pb.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {

std::vector<std::vector<int>> buckets_of_ddp(std::span<const BucketGradient> gradients,
                                             Bytes first_cap, Bytes cap) {
  struct Filling {
    std::vector<int> gradients;
    std::int64_t held = 0;
  };
  std::vector<std::vector<int>> closed;
  std::map<DataType, Filling> open;
  std::map<DataType, bool> had_first;
  std::vector<DataType> types;  // in the order of their first gradients
  for (int i = 0; i < static_cast<int>(gradients.size()); ++i) {
    const BucketGradient& gradient = gradients[i];
    if (!open.contains(gradient.type)) types.push_back(gradient.type);
    Filling& bucket = open[gradient.type];
    bucket.gradients.push_back(i);
    bucket.held += gradient.bytes();
    bool& first_is_closed = had_first[gradient.type];
    if (bucket.held < (first_is_closed ? cap : first_cap).count()) continue;
    closed.push_back(std::move(bucket.gradients));
    bucket = {};
    first_is_closed = true;
  }
  for (const DataType type : types) {
    if (!open[type].gradients.empty()) closed.push_back(std::move(open[type].gradients));
  }
  return closed;
}

namespace {

constexpr std::int64_t kDdpMebibyte = std::int64_t{1} << 20;
/// The defaults of DistributedDataParallel.
constexpr std::int64_t kDdpFirstBucket = kDdpMebibyte;
constexpr std::int64_t kDdpBucketMb = 25;

class PytorchDdpFramework final : public FrameworkOf<PytorchDdp> {
 public:
  using FrameworkOf::FrameworkOf;

  [[nodiscard]] std::string_view name() const override { return "pytorch_ddp"; }

  [[nodiscard]] std::string describe_packs() const override {
    std::string text = "PyTorch DDP, buckets of " + show_mebibytes(options().bucket_cap);
    if (options().first_bucket != options().bucket_cap)
      text += ", the first of " + show_mebibytes(options().first_bucket);
    return text;
  }

  /// The reducer divides gradients while it copies them into a bucket. If gradients are views of
  /// their bucket, the reducer divides them in place. If a communication hook converts whole
  /// buckets, the hook divides the converted bucket instead. All collectives are sums. SOURCE:
  /// torch/csrc/distributed/c10d/reducer.cpp, mark_variable_ready_dense;
  /// torch/distributed/algorithms/ddp_comm_hooks/default_hooks.py.
  void lower(const LoweringTarget&, Strategy& strategy, Complaints&) const override {
    lower_to_one_stream(strategy);
    const bool by_hook = strategy.compression && strategy.compression->of_packs;
    strategy.division =
        by_hook || options().gradient_as_bucket_view ? Division::kBefore : Division::kWhileCopying;
  }

  [[nodiscard]] bool pack(PackMaker& maker) const override {
    const std::vector<int> order = as_they_become_ready(maker.workload());
    const auto buckets = buckets_of_ddp(gradients_in(order, maker.workload()),
                                        options().first_bucket, options().bucket_cap);
    for (Bucket& bucket : side_by_side(order, buckets, maker.workload())) {
      bucket.copied_in = bucket.copied_out = !options().gradient_as_bucket_view;
      maker.add(std::move(bucket));
    }
    return true;
  }

  [[nodiscard]] std::optional<std::vector<TriedValues>> tried_values(
      const Workload& workload) const override {
    return std::vector<TriedValues>{
        {"strategy.pytorch_ddp.bucket_cap_mb", tried_mebibytes(workload)},
        {"strategy.pytorch_ddp.first_bucket_bytes", {"", "65536", "262144", "1048576", "4194304"}}};
  }
};

std::shared_ptr<const Framework> read_ddp(const StrategyText& text) {
  constexpr std::int64_t kMaxBucketBytes = std::int64_t{1} << 50;
  const proto::PytorchDdp& message = text.message.pytorch_ddp();
  Fields& fields = text.fields;
  PytorchDdp ddp;
  const auto mebibytes = fields.number(message, "bucket_cap_mb", "pytorch_ddp", {0, 1e6});
  ddp.bucket_cap = Bytes(static_cast<std::int64_t>(mebibytes.value_or(kDdpBucketMb) *
                                                   static_cast<double>(kDdpMebibyte)));
  // The smaller default of the first bucket applies only if the scenario sets no cap.
  ddp.first_bucket = mebibytes ? ddp.bucket_cap : Bytes(kDdpFirstBucket);
  if (const auto bytes =
          fields.integer(message, "first_bucket_bytes", "pytorch_ddp", 0, kMaxBucketBytes))
    ddp.first_bucket = Bytes(*bytes);
  ddp.gradient_as_bucket_view = message.gradient_as_bucket_view();
  refuse_merging(text, "pytorch_ddp");
  return pytorch_ddp(ddp);
}

/// Returns DDP's arguments. The cap is in MiB, and the size of the first bucket is in bytes.
/// SOURCE: torch/nn/parallel/distributed.py.
ProgramSetting ddp_setting(std::int64_t bucket, std::optional<std::int64_t> first, bool view) {
  ProgramSetting made{"PyTorch DDP", ProgramSetting::Language::kPython, "", true,
                      "bucket_cap_mb is in MiB"};
  // If a program sets the cap, the cap also applies to the first bucket.
  const bool usual_cap = bucket == kDdpBucketMb * kDdpMebibyte && first && *first != bucket;
  const std::string cap = usual_cap ? "" : fmt::format("bucket_cap_mb={}, ", in_mebibytes(bucket));
  if (usual_cap && *first == kDdpFirstBucket) {
    made.remark = "DDP's default";
  } else if (first && *first != bucket) {
    made.text = fmt::format("torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = {}\n", *first);
    made.remark = "first_bucket_bytes is in bytes";
    if (!usual_cap) {
      made.remark =
          "bucket_cap_mb is in MiB, and the size of the first bucket is in bytes. If bucket_cap_mb "
          "is set, newer releases of PyTorch ignore the size of the first bucket. The step time "
          "was therefore predicted with and without this size; the stated step time is the longer "
          "one";
      made.readings.push_back({"strategy.pytorch_ddp.first_bucket_bytes="});
    }
  }
  made.text +=
      fmt::format("model = DDP(model, device_ids=[local_rank], {}gradient_as_bucket_view={})\n",
                  cap, view ? "True" : "False");
  return made;
}

std::vector<ProgramSetting> ddp_settings(const Planned& planned) {
  if (const auto* own = options_of<PytorchDdp>(planned.strategy))
    return {ddp_setting(own->bucket_cap.count(), own->first_bucket.count(),
                        own->gradient_as_bucket_view)};
  const auto bytes = bytes_to_come_near(planned);
  const AlgorithmTraits& algorithm = traits(planned.strategy.algorithm);
  if (!bytes || algorithm.torch_backend.empty()) return {};
  ProgramSetting near = ddp_setting(*bytes, std::nullopt, true);
  if (!algorithm.uses_nccl())
    near.text =
        fmt::format("torch.distributed.init_process_group(\"{}\")\n", algorithm.torch_backend) +
        near.text;
  return {near_setting(std::move(near), {"pytorch_ddp.bucket_cap_mb=" + in_mebibytes(*bytes),
                                         "pytorch_ddp.gradient_as_bucket_view=true"})};
}

}  // namespace

std::shared_ptr<const Framework> pytorch_ddp(const PytorchDdp& options) {
  return std::make_shared<PytorchDdpFramework>(options);
}

FrameworkKind pytorch_ddp_kind() {
  return {"pytorch_ddp",
          read_ddp,
          ddp_settings,
          {"strategy.pytorch_ddp.bucket_cap_mb", "strategy.pytorch_ddp.first_bucket_bytes"},
          nullptr,
          HostLibrary::kGloo};
}

}  // namespace tutti::core
