#include "core/framework/byteps/byteps.h"
#include "core/proto/scenario.pb.h"

namespace tutti::core {
namespace {

/// If the scenario sets an algorithm, reports each option that only applies to BytePS's servers.
void refuse_without_servers(const proto::BytePs& byteps, Fields& fields) {
  const auto only_there = [&](bool given, const char* field) {
    if (given)
      fields.complain_at(byteps, field, ProblemCode::kUnused,
                         "byteps: {} applies only if BytePS's servers are used; remove this field, "
                         "or remove algorithm",
                         field);
  };
  only_there(byteps.has_scheduling_credit(), "scheduling_credit");
  only_there(byteps.key_hash_fn() != proto::BytePs::DJB2, "key_hash_fn");
  only_there(byteps.has_servers_on_workers(), "servers_on_workers");
}

/// If BytePS's servers are used, reports each field that only applies to algorithms.
void refuse_with_servers(const proto::Strategy& s, Fields& fields) {
  const auto refuse = [&](bool given, const char* field) {
    if (given)
      fields.complain_at(s, field, ProblemCode::kUnused,
                         "strategy: {}: this field has no effect with the servers of BytePS; "
                         "remove this field, or set an algorithm",
                         field);
  };
  refuse(s.shards() > 1, "shards");
  refuse(s.collective() != proto::Strategy::ALL_REDUCE, "collective");
  refuse(s.pad_packs(), "pad_packs");
  refuse(s.out_of_place(), "out_of_place");
  refuse(s.launch() != proto::Strategy::LAUNCH_DEFAULT, "launch");
}

}  // namespace

std::shared_ptr<const Framework> read_byteps(const StrategyText& text) {
  constexpr std::int64_t kMaxPartitionBytes = std::int64_t{1} << 50;
  const proto::BytePs& message = text.message.byteps();
  Fields& fields = text.fields;
  BytePs options;
  options.partition =
      Bytes(fields.integer(message, "partition_bytes", "byteps", 8, kMaxPartitionBytes)
                .value_or(4'096'000));
  options.credit = fields.integer(message, "scheduling_credit", "byteps", 0, 1 << 20).value_or(0);
  options.hash = static_cast<KeyHash>(message.key_hash_fn());
  options.pushes = text.message.algorithm().empty();
  // The upper limit depends on the cluster and is checked later.
  if (message.has_servers_on_workers()) options.servers_on_workers = message.servers_on_workers();
  refuse_merging(text, "byteps");
  if (options.pushes)
    refuse_with_servers(text.message, fields);
  else
    refuse_without_servers(message, fields);
  return byteps(options);
}

}  // namespace tutti::core
