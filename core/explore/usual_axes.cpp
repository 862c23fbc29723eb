#include "core/explore/usual_axes.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include <fmt/format.h>

#include "core/edit/scenario_text.h"

namespace tutti::core {
namespace {

/// Pack sizes in steps of the square root of two: finer ones differ by less than a gradient.
constexpr double kStep = 1.4142135623730951;
constexpr std::int64_t kLeastPack = 64 * 1024;

/// From `least` to what holds `most`, in whole numbers.
std::vector<std::string> sizes(double least, double most) {
  std::vector<std::string> values;
  double value = least;
  for (; value < most * kStep; value *= kStep) values.push_back(fmt::format("{}", std::llround(value)));
  return values;
}

/// How many gradients are merged: powers of two up to all.
std::vector<std::string> scopes(std::size_t gradients) {
  std::vector<std::string> values;
  for (std::size_t scope = 1; scope < 2 * gradients; scope *= 2) values.push_back(std::to_string(scope));
  return values;
}

Expected<Axis> one_field(const std::string& field, const std::vector<std::string>& values) {
  return parse_axis("tune", fmt::format("{}={}", field, fmt::join(values, ",")));
}

/// Every algorithm that the cluster has for all-reduces, with the numbers of parts that it can be told.
Expected<Axis> algorithms_of(const Scenario& scenario, const ScenarioText& text) {
  Axis axis;
  const auto add_field = [&](const std::string& name) {
    const auto parsed = parse_override("tune", name + "=");
    axis.fields.push_back(name);
    axis.paths.push_back(parsed->path);
  };
  for (const char* name : {"strategy.algorithm", "strategy.shards"}) add_field(name);
  // Settings that would stand in the way of other algorithms, or of bytes_per_pack.
  std::vector<std::string> cleared;
  for (const char* name : {"strategy.channels", "strategy.num_packs", "strategy.agg_small_grads_max_bytes",
                           "strategy.agg_small_grads_max_group", "strategy.agg_small_grads_exact_group"}) {
    const auto parsed = parse_override("tune", std::string(name) + "=");
    if (text.find(parsed->path) == nullptr) continue;
    cleared.emplace_back(name);
    add_field(name);
  }
  for (const AlgorithmChoice algorithm : algorithms()) {
    for (const int shards : {1, 2, 4, 8}) {
      Strategy one = Strategy::for_algorithm(algorithm);
      one.shards = shards;
      one.reduction = scenario.strategy.reduction;
      if (!problems_of(one, *scenario.cluster).empty()) continue;
      std::vector<std::string> row{to_string(algorithm), shards == 1 ? "" : std::to_string(shards)};
      row.resize(2 + cleared.size());
      axis.rows.push_back(std::move(row));
    }
  }
  return axis;
}

}  // namespace

Expected<std::vector<Axis>> usual_axes(const Scenario& scenario) {
  const Strategy& s = scenario.strategy;
  const auto bytes = static_cast<double>(std::max<std::int64_t>(1, scenario.workload.bytes().count()));
  std::int64_t elements = 1;
  for (const Variable& gradient : scenario.workload.gradients) elements += gradient.elements;
  std::vector<Axis> axes;
  Problems problems;
  const auto add = [&](Expected<Axis> axis) {
    if (axis) return axes.push_back(std::move(*axis));
    problems.add(axis.error());
  };
  const ScenarioText text(scenario.text, Schema::scenario());
  const auto has = [&](const std::string& field) {
    return text.find(parse_override("tune", field + "=")->path) != nullptr;
  };
  const std::vector<std::string> packs = sizes(static_cast<double>(kLeastPack), bytes);
  if (has("strategy.mirrored")) {
    add(one_field("strategy.mirrored.cross_device_ops",
                  {"NCCL_ALL_REDUCE", "HIERARCHICAL_COPY_ALL_REDUCE", "REDUCTION_TO_ONE_DEVICE"}));
    add(one_field("strategy.mirrored.num_packs", {"0", "1", "2", "4", "8", "16"}));
  } else if (has("strategy.parameter_server")) {
    add(one_field("strategy.parameter_server.placement", {"ROUND_ROBIN", "GREEDY_BY_BYTES"}));
    add(one_field("strategy.parameter_server.variable_read_cache", {"NONE", "CPU"}));
  } else if (has("strategy.tf_cnn_benchmarks")) {
    add(one_field("strategy.tf_cnn_benchmarks.variable_update",
                  {"PARAMETER_SERVER", "REPLICATED", "DISTRIBUTED_REPLICATED", "DISTRIBUTED_ALL_REDUCE",
                   "COLLECTIVE_ALL_REDUCE"}));
    add(one_field("strategy.tf_cnn_benchmarks.local_parameter_device", {"GPU", "CPU"}));
  } else if (s.distribution == Distribution::kBytePs) {
    add(one_field("strategy.byteps.partition_bytes", packs));
    add(one_field("strategy.byteps.scheduling_credit", {"0", "1", "2", "4", "8", "16"}));
    add(one_field("strategy.byteps.key_hash_fn", {"DJB2", "NAIVE", "SDBM"}));
  } else if (s.spec || s.servers || has("strategy.one_device")) {
    return tl::make_unexpected(
        Error::request("this strategy has no usual settings to try; say which with --over, such as --over "
                       "strategy.num_packs=0,1,2,4,8",
                       {scenario.file, 0, 0}));
  } else if (s.framework) {
    if (std::holds_alternative<PytorchDdp>(*s.framework)) {
      std::vector<std::string> caps;
      for (double mb = 0.25; mb < bytes / 1048576 * kStep; mb *= kStep) caps.push_back(fmt::format("{:.4g}", mb));
      add(one_field("strategy.pytorch_ddp.bucket_cap_mb", caps));
      add(one_field("strategy.pytorch_ddp.first_bucket_bytes", {"", "65536", "262144", "1048576", "4194304"}));
    } else if (std::holds_alternative<DeepSpeed>(*s.framework)) {
      add(one_field("strategy.deepspeed.reduce_bucket_size", sizes(1e4, static_cast<double>(elements))));
      add(one_field("strategy.deepspeed.overlap_comm", {"true", "false"}));
    } else if (std::holds_alternative<Megatron>(*s.framework)) {
      add(one_field("strategy.megatron.ddp_bucket_size", sizes(1e4, static_cast<double>(elements))));
      add(one_field("strategy.megatron.overlap_grad_reduce", {"true", "false"}));
    } else if (std::holds_alternative<Horovod>(*s.framework)) {
      // What Horovod's own search goes over, and shorter cycles. SOURCE: horovod/common/parameter_manager.cc.
      add(one_field("strategy.horovod.cycle_time_ms", {"0.25", "0.5", "1", "2.5", "5", "10", "25", "50", "100"}));
      add(one_field("strategy.horovod.fusion_threshold", packs));
    } else {
      add(one_field("strategy.byteps.partition_bytes", packs));
    }
  } else if (s.collective_all_reduce) {
    add(one_field("strategy.communication_options.bytes_per_pack", packs));
    add(one_field("strategy.communication_options.implementation", {"RING", "NCCL"}));
  } else {
    if (s.merge_scope_asked)
      add(one_field("strategy.all_reduce_merge_scope", scopes(scenario.workload.gradients.size())));
    else
      add(one_field("strategy.bytes_per_pack", packs));
    add(algorithms_of(scenario, text));
  }
  if (!problems.empty()) return problems.take();
  return axes;
}

}  // namespace tutti::core
