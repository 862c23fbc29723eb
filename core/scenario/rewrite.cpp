#include "core/scenario/rewrite.h"

#include <filesystem>

#include <google/protobuf/text_format.h>

#include "core/base/check.h"
#include "core/framework/registry.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/old_form.h"
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

proto::Strategy::Collective proto_of(CollectiveKind collective) {
  switch (collective) {
    case CollectiveKind::kAllReduce: return proto::Strategy::ALL_REDUCE;
    case CollectiveKind::kReduceScatter: return proto::Strategy::REDUCE_SCATTER;
    case CollectiveKind::kAllGather: return proto::Strategy::ALL_GATHER;
    case CollectiveKind::kBroadcast: return proto::Strategy::BROADCAST;
    case CollectiveKind::kReduce: return proto::Strategy::REDUCE;
    case CollectiveKind::kAllToAll: return proto::Strategy::ALL_TO_ALL;
    case CollectiveKind::kGather: return proto::Strategy::GATHER;
    case CollectiveKind::kScatter: return proto::Strategy::SCATTER;
    case CollectiveKind::kSendReceive: return proto::Strategy::SEND_RECEIVE;
  }
  return proto::Strategy::ALL_REDUCE;
}

/// Removes all packing options. Keeps the options by which TensorFlow chooses the algorithm.
void leave_packing_out(proto::Strategy& strategy) {
  if (!strategy.has_tensorflow()) return strategy.clear_framework();
  proto::TensorFlow& tensorflow = *strategy.mutable_tensorflow();
  if (tensorflow.has_multi_worker_mirrored()) {
    proto::MultiWorkerMirroredStrategy& mirrored = *tensorflow.mutable_multi_worker_mirrored();
    if (mirrored.has_collective_all_reduce()) {
      mirrored.mutable_collective_all_reduce()->clear_num_packs();
      mirrored.mutable_collective_all_reduce()->clear_all_reduce_merge_scope();
    }
  }
  if (tensorflow.has_mirrored()) {
    tensorflow.mutable_mirrored()->set_num_packs(0);
    tensorflow.mutable_mirrored()->clear_tf_1_15();
  }
  if (tensorflow.has_multi_worker_all_reduce()) {
    proto::MultiWorkerAllReduce& all_reduce = *tensorflow.mutable_multi_worker_all_reduce();
    all_reduce.clear_num_packs();
    all_reduce.clear_agg_small_grads_max_bytes();
    all_reduce.clear_agg_small_grads_max_group();
    all_reduce.clear_agg_small_grads_exact_group();
  }
  if (tensorflow.has_tf_cnn_benchmarks()) {
    proto::TfCnnBenchmarks& benchmarks = *tensorflow.mutable_tf_cnn_benchmarks();
    benchmarks.clear_gradient_repacking();
    benchmarks.clear_agg_small_grads_max_bytes();
    benchmarks.clear_agg_small_grads_max_group();
    benchmarks.clear_agg_small_grads_exact_group();
    benchmarks.clear_allreduce_merge_scope();
  }
}

}  // namespace

std::string with_one_buffer(const std::string& text, const std::string& path,
                            const OneBuffer& one) {
  Problems problems;
  SourceMap sources(path);
  proto::Scenario scenario;
  GuestMessages guests = framework_messages();  // left out, like all packing
  bind(parse_scenario(text, path, problems).root, scenario, sources, problems, &guests);
  TUTTI_CHECK(problems.empty(), "{} has problems", path);

  proto::Workload& workload = *scenario.mutable_workload();
  workload.Clear();
  proto::Variable& buffer = *workload.add_variable();
  buffer.set_name("buffer");
  buffer.add_shape(one.elements);
  buffer.set_data_type(static_cast<proto::DataType>(one.type));
  workload.set_update_ms(0);

  proto::Strategy& strategy = *scenario.mutable_strategy();
  strategy.clear_agg_small_grads_max_group();
  strategy.clear_agg_small_grads_exact_group();
  strategy.clear_all_reduce_merge_scope();
  strategy.clear_merging();
  strategy.clear_pad_packs();
  leave_packing_out(strategy);
  strategy.clear_compression();
  strategy.set_reduction(proto_of(one.reduction));
  strategy.set_collective(proto_of(one.collective));
  strategy.clear_root();
  if (has_root(one.collective)) strategy.set_root(one.root);
  strategy.set_out_of_place(one.out_of_place);
  scenario.mutable_run()->set_steps(one.steps);
  scenario.mutable_run()->clear_compute_jitter_percent();
  scenario.clear_conditions();
  scenario.clear_communicator();

  std::string written;
  google::protobuf::TextFormat::PrintToString(scenario, &written);
  return written;
}

std::string with_trace(const std::string& text, const std::string& path, const Strategy& strategy,
                       const std::string& trace, const std::string& groups) {
  Problems problems;
  SourceMap sources(path);
  proto::Scenario scenario;
  GuestMessages guests = framework_messages();  // left out, like all packing
  bind(parse_scenario(text, path, problems).root, scenario, sources, problems, &guests);
  TUTTI_CHECK(problems.empty(), "{} has problems", path);

  proto::ExecutionTrace from = scenario.workload().execution_trace();
  scenario.mutable_workload()->Clear();
  proto::ExecutionTrace& to = *scenario.mutable_workload()->mutable_execution_trace();
  to.set_path(trace);
  if (!groups.empty()) to.set_groups(groups);
  if (from.has_compute_scale()) to.set_compute_scale(from.compute_scale());

  const proto::Strategy before = scenario.strategy();
  proto::Strategy& after = *scenario.mutable_strategy();
  after.Clear();
  after.set_algorithm(std::string(to_string(strategy.algorithm)));
  if (strategy.shards > 1) after.set_shards(strategy.shards);
  if (strategy.channels) after.set_channels(*strategy.channels);
  after.set_reduction(proto_of(strategy.reduction));
  after.set_staging(strategy.staging == Staging::kDirect    ? proto::Strategy::DIRECT
                    : strategy.staging == Staging::kViaHost ? proto::Strategy::VIA_HOST
                                                            : proto::Strategy::VIA_HOST_ON_REQUEST);
  after.set_launch_us(to_us(strategy.launch_overhead));
  if (before.has_nccl()) *after.mutable_nccl() = before.nccl();
  if (before.has_tf_ring()) *after.mutable_tf_ring() = before.tf_ring();
  scenario.clear_communicator();
  scenario.mutable_run()->clear_checkpoint_every();
  // The layers that late hosts name are not in a trace.
  if (scenario.has_conditions()) scenario.mutable_conditions()->clear_late_host();

  const auto folder = std::filesystem::absolute(path).parent_path();
  const auto absolute = [&](const std::string& name) {
    const bool is_path = name.find('/') != std::string::npos || name.find('.') != std::string::npos;
    return is_path && !std::filesystem::path(name).is_absolute()
               ? (folder / name).lexically_normal().string()
               : name;
  };
  proto::Cluster& cluster = *scenario.mutable_cluster();
  for (proto::Workers& workers : *cluster.mutable_workers())
    workers.set_machine(absolute(workers.machine()));
  if (cluster.has_file()) cluster.set_file(absolute(cluster.file()));
  if (cluster.has_nccl_calibration())
    cluster.set_nccl_calibration(absolute(cluster.nccl_calibration()));
  if (cluster.has_network() && !cluster.network().link().empty())
    cluster.mutable_network()->set_link(absolute(cluster.network().link()));

  std::string written;
  google::protobuf::TextFormat::PrintToString(scenario, &written);
  return written;
}

Error without_lines(const Error& error) {
  std::vector<Problem> problems = error.problems();
  for (Problem& problem : problems) problem.where = {problem.where.file, 0, 0};
  return {error.kind(), std::move(problems)};
}

}  // namespace tutti::core
