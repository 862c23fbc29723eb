#include "core/scenario/rewrite.h"

#include <google/protobuf/text_format.h>

#include "core/base/check.h"
#include "core/proto/scenario.pb.h"
#include "core/text/bind.h"

namespace tutti::core {
namespace {

proto::Strategy::Reduction proto_of(Reduction reduction) {
  switch (reduction) {
    case Reduction::kSum: return proto::Strategy::SUM;
    case Reduction::kMean: return proto::Strategy::MEAN;
    case Reduction::kMin: return proto::Strategy::MIN;
    case Reduction::kMax: return proto::Strategy::MAX;
    case Reduction::kProduct: return proto::Strategy::PROD;
  }
  return proto::Strategy::SUM;
}

}  // namespace

std::string with_one_buffer(const std::string& text, const std::string& path, DataType type, std::int64_t elements,
                            std::int32_t steps, Reduction reduction) {
  Problems problems;
  SourceMap sources(path);
  proto::Scenario scenario;
  bind(parse_document(text, path, problems).root, scenario, sources, problems);
  TUTTI_CHECK(problems.empty(), "{} has problems", path);

  proto::Workload& workload = *scenario.mutable_workload();
  workload.Clear();
  proto::Variable& buffer = *workload.add_variable();
  buffer.set_name("buffer");
  buffer.add_shape(elements);
  buffer.set_data_type(static_cast<proto::DataType>(type));
  workload.set_update_ms(0);

  proto::Strategy& strategy = *scenario.mutable_strategy();
  strategy.clear_bytes_per_pack();
  strategy.clear_num_packs();
  strategy.clear_agg_small_grads_max_bytes();
  strategy.clear_agg_small_grads_max_group();
  strategy.clear_all_reduce_merge_scope();
  strategy.clear_merging();
  strategy.set_reduction(proto_of(reduction));
  scenario.mutable_run()->set_steps(steps);
  scenario.mutable_run()->clear_compute_jitter_percent();
  scenario.clear_conditions();

  std::string written;
  google::protobuf::TextFormat::PrintToString(scenario, &written);
  return written;
}

}  // namespace tutti::core
