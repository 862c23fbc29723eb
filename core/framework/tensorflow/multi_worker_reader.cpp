#include "core/framework/tensorflow/multi_worker_reader.h"

#include "core/proto/scenario.pb.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

namespace {

CommunicationOptions options_from(const proto::CommunicationOptions& message,
                                  const std::string& what, Fields& fields) {
  CommunicationOptions options;
  options.bytes_per_pack =
      fields.integer(message, "bytes_per_pack", what, 0, std::int64_t{1} << 50).value_or(0);
  if (const auto seconds = fields.number(message, "timeout_seconds", what, {-1e9, 1e9}))
    options.timeout_seconds = *seconds;
  if (message.implementation() == proto::CommunicationOptions::RING)
    options.implementation = Implementation::kRing;
  if (message.implementation() == proto::CommunicationOptions::NCCL)
    options.implementation = Implementation::kNccl;
  return options;
}

Generation generation_of(proto::CollectiveAllReduce::Generation generation) {
  switch (generation) {
    case proto::CollectiveAllReduce::TF_1_15: return Generation::kTf115;
    case proto::CollectiveAllReduce::TF_2_1: return Generation::kTf21;
    case proto::CollectiveAllReduce::TF_2_5: return Generation::kTf25;
    default: return Generation::kTf24;
  }
}

/// Reports fields that only exist in other releases of TensorFlow.
void refuse_other_releases(const proto::CollectiveAllReduce& how, Generation generation,
                           Fields& fields) {
  const auto refuse = [&](bool given, const char* field, const char* whose) {
    if (given)
      fields.complain_at(
          how, field, ProblemCode::kConflict,
          "collective_all_reduce: {}: CollectiveAllReduce of {} does not have this option; set "
          "generation: {}, or use communication_options {{ bytes_per_pack: … }}",
          field, to_string(generation), whose);
  };
  refuse(how.num_packs() > 0 && generation != Generation::kTf21, "num_packs", "TF_2_1");
  refuse(how.has_all_reduce_merge_scope() && generation != Generation::kTf115,
         "all_reduce_merge_scope", "TF_1_15");
}

}  // namespace

CollectiveAllReduce collective_all_reduce_from(const proto::Strategy& s, Fields& fields) {
  const proto::MultiWorkerMirroredStrategy& message = s.tensorflow().multi_worker_mirrored();
  CollectiveAllReduce all_reduce;
  all_reduce.options =
      options_from(message.communication_options(), "communication_options", fields);
  if (message.has_hints()) all_reduce.call = options_from(message.hints(), "hints", fields);
  const proto::CollectiveAllReduce& how = message.collective_all_reduce();
  all_reduce.generation = generation_of(how.generation());
  if (how.has_collective_nccl()) all_reduce.collective_nccl = how.collective_nccl();
  all_reduce.eager = how.eager();
  if (how.has_experimental_aggregate_gradients()) {
    all_reduce.aggregates_gradients = how.experimental_aggregate_gradients();
    if (all_reduce.generation < Generation::kTf24) {
      fields.complain_at(how, "experimental_aggregate_gradients", ProblemCode::kUnused,
                         "collective_all_reduce: experimental_aggregate_gradients: {} does not "
                         "have this option and always updates a variable when its gradient "
                         "arrives; remove this option, or choose a later generation",
                         to_string(all_reduce.generation));
    }
    if (!all_reduce.aggregates_gradients && s.update() == proto::Strategy::AFTER_ALL) {
      fields.complain_at(s, "update", ProblemCode::kConflict,
                         "strategy: update: AFTER_ALL contradicts "
                         "experimental_aggregate_gradients: false; keep one of these settings");
    }
  }
  if (s.update() == proto::Strategy::PER_PACK && all_reduce.generation >= Generation::kTf24 &&
      all_reduce.aggregates_gradients) {
    fields.complain_at(s, "update", ProblemCode::kConflict,
                       "strategy: update: PER_PACK needs collective_all_reduce {{ "
                       "experimental_aggregate_gradients: false }}; set "
                       "experimental_aggregate_gradients instead of update");
  }
  refuse_other_releases(how, all_reduce.generation, fields);
  for (const StrategyProblem& problem : problems_of(all_reduce)) {
    const bool in_call =
        problem.field == "communication_options" && !message.has_communication_options();
    const std::string field = in_call ? "hints" : problem.field;
    fields.complain_at(message, field, problem.code, "multi_worker_mirrored: {}: {}", field,
                       problem.text);
  }
  return all_reduce;
}

}  // namespace tutti::core
