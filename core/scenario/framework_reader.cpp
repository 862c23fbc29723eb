#include "core/scenario/framework_reader.h"

#include "core/framework/byteps/byteps_reader.h"
#include "core/proto/scenario.pb.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

PytorchDdp ddp_from(const proto::PytorchDdp& message, Fields& fields) {
  PytorchDdp ddp;
  const auto mebibytes = fields.number(message, "bucket_cap_mb", "pytorch_ddp", {0, 1e6});
  ddp.bucket_cap = Bytes(static_cast<std::int64_t>(mebibytes.value_or(25) * static_cast<double>(kMebibyte)));
  // Only where nobody says a cap is the first bucket's smaller.
  ddp.first_bucket = mebibytes ? ddp.bucket_cap : Bytes(kMebibyte);
  if (const auto bytes = fields.integer(message, "first_bucket_bytes", "pytorch_ddp", 0, kMostBytes))
    ddp.first_bucket = Bytes(*bytes);
  ddp.gradient_as_bucket_view = message.gradient_as_bucket_view();
  return ddp;
}

DeepSpeed deepspeed_from(const proto::DeepSpeed& message, Fields& fields) {
  DeepSpeed zero;
  zero.reduce_bucket_size =
      fields.integer(message, "reduce_bucket_size", "deepspeed", 1, kMostBytes).value_or(zero.reduce_bucket_size);
  zero.overlap_comm = message.overlap_comm();
  return zero;
}

Megatron megatron_from(const proto::Megatron& message, Fields& fields) {
  Megatron megatron;
  megatron.overlap_grad_reduce = message.overlap_grad_reduce();
  megatron.bucket_size = fields.integer(message, "ddp_bucket_size", "megatron", 1, kMostBytes);
  if (megatron.bucket_size && !megatron.overlap_grad_reduce) {
    fields.complain_at(
        message, "ddp_bucket_size",
        "megatron: ddp_bucket_size does nothing without overlap_grad_reduce: there is one bucket; say that too");
  }
  return megatron;
}

BytePs byteps_from(const proto::BytePs& message, Fields& fields) {
  BytePs byteps;
  byteps.partition = Bytes(fields.integer(message, "partition_bytes", "byteps", 8, kMostBytes).value_or(4'096'000));
  byteps.credit = fields.integer(message, "scheduling_credit", "byteps", 0, 1 << 20).value_or(0);
  byteps.hash = static_cast<KeyHash>(message.key_hash_fn());
  return byteps;
}

Horovod horovod_from(const proto::Horovod& message, Fields& fields) {
  Horovod horovod;
  horovod.fusion_threshold =
      Bytes(fields.integer(message, "fusion_threshold", "horovod", 0, kMostBytes).value_or(128 * kMebibyte));
  horovod.cycle = time_from_us(1e3 * fields.number(message, "cycle_time_ms", "horovod", {0.001, 1e6}).value_or(1));
  horovod.cache_capacity = static_cast<std::int32_t>(
      fields.integer(message, "cache_capacity", "horovod", 0, 1 << 30).value_or(horovod.cache_capacity));
  return horovod;
}

}  // namespace

std::optional<Framework> framework_from(const proto::Strategy& s, Fields& fields) {
  std::optional<Framework> framework;
  const char* name = nullptr;
  switch (s.framework_case()) {
    case proto::Strategy::kPytorchDdp: framework = ddp_from(s.pytorch_ddp(), fields), name = "pytorch_ddp"; break;
    case proto::Strategy::kDeepspeed: framework = deepspeed_from(s.deepspeed(), fields), name = "deepspeed"; break;
    case proto::Strategy::kMegatron: framework = megatron_from(s.megatron(), fields), name = "megatron"; break;
    case proto::Strategy::kByteps: framework = byteps_from(s.byteps(), fields), name = "byteps"; break;
    case proto::Strategy::kHorovod: framework = horovod_from(s.horovod(), fields), name = "horovod"; break;
    case proto::Strategy::FRAMEWORK_NOT_SET: return std::nullopt;
  }
  const auto besides = [&](bool said, const char* field) {
    if (said) fields.complain_at(s, field, "strategy: {} and {} are two ways of packing; keep one", name, field);
  };
  besides(s.has_bytes_per_pack(), "bytes_per_pack");
  besides(s.num_packs() > 0, "num_packs");
  besides(s.has_agg_small_grads_max_bytes(), "agg_small_grads_max_bytes");
  besides(s.all_reduce_merge_scope() > 1, "all_reduce_merge_scope");
  besides(s.has_all_reduce_spec(), "all_reduce_spec");
  besides(s.has_communication_options(), "communication_options");
  besides(s.has_hints(), "hints");
  besides(s.has_collective_all_reduce(), "collective_all_reduce");
  if (s.has_byteps()) check_byteps(s, fields);
  if (s.has_horovod() && s.launch() != proto::Strategy::LAUNCH_DEFAULT)
    fields.complain_at(s, "launch",
                       "strategy: launch: Horovod's packs go one after the other, in one stream; leave it out");
  if (s.merging() != proto::Strategy::MERGING_DEFAULT)
    fields.complain_at(s, "merging", "strategy: {} says how gradients come into its buckets; leave merging out", name);
  return framework;
}

}  // namespace tutti::core
