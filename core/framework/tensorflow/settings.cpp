#include <algorithm>

#include <fmt/format.h>

#include "core/framework/tensorflow/tensorflow.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

using Language = ProgramSetting::Language;

constexpr const char* kCommunicationOptions =
    "tensorflow.multi_worker_mirrored.communication_options";

/// True if the strategy is MultiWorkerMirroredStrategy.
bool is_collective_all_reduce(const Strategy& s) {
  const auto* own = options_of<TensorFlow>(s);
  return own && own->collective_all_reduce;
}

/// Returns the setting of tf.distribute.experimental.CommunicationOptions for a strategy.
std::optional<ProgramSetting> tensorflow_2(const Planned& planned) {
  const Strategy& s = planned.strategy;
  const std::string_view implementation = traits(s.algorithm).tf_implementation;
  if (s.spec || !s.bytes_per_pack || implementation.empty()) return std::nullopt;
  ProgramSetting made{
      "TensorFlow 2", Language::kPython,
      fmt::format(
          "options = tf.distribute.experimental.CommunicationOptions(\n"
          "    bytes_per_pack={},\n"
          "    implementation=tf.distribute.experimental.CommunicationImplementation.{})\n"
          "strategy = tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)\n",
          s.bytes_per_pack->count(), implementation),
      true, "bytes_per_pack is in bytes; only MultiWorkerMirroredStrategy obeys bytes_per_pack"};
  if (is_collective_all_reduce(s)) return made;
  made.as_simulated = false;
  made.readings = {packed_by(
      {"algorithm=",
       fmt::format("{}.bytes_per_pack={}", kCommunicationOptions, s.bytes_per_pack->count()),
       fmt::format("{}.implementation={}", kCommunicationOptions, implementation)})};
  if (s.update == Update::kPerPack)
    made.remark +=
        "; the simulated overlap of updates with communication requires "
        "experimental_aggregate_gradients=False and a reduction of gradients in your program";
  return made;
}

/// Returns the entries of an all-reduce spec that is equivalent to the strategy.
std::optional<std::vector<SpecEntry>> spec_entries(const Strategy& s) {
  if (s.spec) return s.spec->entries;
  const SpecAlgorithm* const known = find_spec_algorithm(s.algorithm);
  if (is_collective_all_reduce(s) || !known) return std::nullopt;
  return std::vector<SpecEntry>{{std::string(known->name), s.algorithm, s.shards, -1}};
}

/// Converts a limit to elements, because TensorFlow's code compares numbers of elements. SOURCE:
/// split_grads_by_size().
std::int64_t limit_in_elements(const Planned& planned, std::int64_t limit) {
  const auto& spec = planned.strategy.spec;
  if (limit < 0 || !spec || spec->limit_unit == LimitUnit::kElements) return limit;
  return limit / element_bytes(planned);
}

std::optional<ProgramSetting> tensorflow_1(const Planned& planned) {
  const Strategy& s = planned.strategy;
  const auto entries = spec_entries(s);
  if (!entries || s.bytes_per_pack) return std::nullopt;
  const bool benchmarks = s.spec && s.spec->api == SpecApi::kTfCnnBenchmarks;
  std::string list, text;
  bool limits = false;
  for (const SpecEntry& entry : *entries) {
    const std::int64_t limit = limit_in_elements(planned, entry.limit);
    limits = limits || limit >= 0;
    list += fmt::format("{}(\"{}\", {}, {})", list.empty() ? "" : ", ", entry.name, entry.shards,
                        limit);
    text += entry.name + (entry.shards > 1 ? fmt::format("#{}", entry.shards) : "");
    if (limit >= 0) text += fmt::format(":{}:", limit);
  }
  const bool aggregates = s.agg_small_grads_max_bytes.count() > 0;
  ProgramSetting made;
  made.as_simulated = true;
  if (limits)
    made.remark =
        "limits are in elements, because TensorFlow's code compares numbers of elements, although "
        "its documentation says bytes";
  if (benchmarks) {
    made.framework = "tf_cnn_benchmarks";
    made.language = Language::kShell;
    made.text = fmt::format("python3 tf_cnn_benchmarks.py --all_reduce_spec={}", text);
    if (aggregates) {
      made.text += fmt::format(" --agg_small_grads_max_bytes={} --agg_small_grads_max_group={}",
                               s.agg_small_grads_max_bytes.count(), s.agg_small_grads_max_group);
    }
    if (s.num_packs > 0) made.text += fmt::format(" --gradient_repacking={}", s.num_packs);
    made.text += "\n";
    return made;
  }
  made.framework = "TensorFlow 1";
  if (!s.spec) {
    const SpecEntry& entry = entries->front();
    made.readings = {
        {"strategy.algorithm=", "strategy.shards=",
         fmt::format(
             "strategy.tensorflow.multi_worker_all_reduce.all_reduce_spec.text=[('{}', {}, -1)]",
             entry.name, entry.shards)}};
  }
  made.text = fmt::format(
      "cross_device_ops = tf.contrib.distribute.MultiWorkerAllReduce(\n"
      "    worker_devices, num_gpus_per_worker,\n"
      "    all_reduce_spec=[{}],\n"
      "    num_packs={},\n    agg_small_grads_max_bytes={},\n    agg_small_grads_max_group={})\n",
      list, s.num_packs, s.agg_small_grads_max_bytes.count(), s.agg_small_grads_max_group);
  return made;
}

/// Returns the setting of TensorFlow 2's ParameterServerStrategy, which assigns variables to
/// servers round-robin and does not cache them. If the scenario's placement or cache differs,
/// returns the most similar setting. Returns nullopt if no partitioner of TensorFlow 2 divides the
/// scenario's axis.
/// SOURCE: tensorflow/python/distribute/parameter_server_strategy_v2.py.
std::optional<ProgramSetting> servers_of_tensorflow_2(const ParameterServer& servers) {
  const bool axis = servers.partitioner && servers.partitioner->axis != 0;
  if (axis) return std::nullopt;
  ProgramSetting made;
  made.framework = "TensorFlow 2";
  made.as_simulated = true;
  made.remark =
      "the simulated training is asynchronous, as with ClusterCoordinator; your program must "
      "define cluster_resolver";
  const auto differs = [&](const char* field, const char* remark) {
    made.as_simulated = false;
    made.remark += remark;
    made.readings.front().push_back(fmt::format("strategy.tensorflow.parameter_server.{}=", field));
  };
  if (servers.placement != Placement::kRoundRobin)
    differs("placement", "; TensorFlow 2 can place variables only round-robin");
  if (servers.caches_on_cpu)
    differs("variable_read_cache", "; TensorFlow 2 does not cache variables on the worker's CPU");
  std::string partitioner = "None";
  if (servers.partitioner)
    partitioner = "tf.distribute.experimental.partitioners." +
                  describe_for_tensorflow_2(*servers.partitioner);
  made.text = fmt::format(
      "strategy = tf.distribute.experimental.ParameterServerStrategy(\n"
      "    cluster_resolver,\n    variable_partitioner={})\n",
      partitioner);
  return made;
}

/// Returns the device function and the variable scope with which TensorFlow 1 assigns variables to
/// servers. SOURCE: tensorflow/python/training/device_setter.py;
/// tensorflow/contrib/training/python/training/device_setter.py.
ProgramSetting servers_of_tensorflow_1(const ParameterServer& servers) {
  ProgramSetting made;
  made.framework = "TensorFlow 1";
  made.as_simulated = true;
  made.remark = fmt::format(
      "the simulated training is asynchronous, without SyncReplicasOptimizer; your program must "
      "define cluster_spec and worker_device{}",
      servers.caches_on_cpu ? ", and worker_cpu (the CPU of worker_device)" : "");
  const bool greedy = servers.placement == Placement::kGreedyBytes;
  if (greedy)
    made.text +=
        "ps_strategy = tf.contrib.training.GreedyLoadBalancingStrategy(\n"
        "    cluster_spec.num_tasks(\"ps\"), tf.contrib.training.byte_size_load_fn)\n";
  made.text += fmt::format(
      "device_setter = tf.compat.v1.train.replica_device_setter(\n"
      "    worker_device=worker_device, cluster=cluster_spec{})\n",
      greedy ? ", ps_strategy=ps_strategy" : "");
  std::string scope;
  if (servers.partitioner) scope += ", partitioner=tf.compat.v1." + describe(*servers.partitioner);
  if (servers.caches_on_cpu) scope += ", caching_device=worker_cpu";
  made.text += "with tf.device(device_setter)";
  if (!scope.empty())
    made.text += fmt::format(", \\\n    tf.compat.v1.variable_scope(\"\"{})", scope);
  made.text += ":\n  build_model()\n";
  return made;
}

}  // namespace

std::vector<ProgramSetting> tensorflow_settings(const Planned& planned) {
  if (planned.strategy.framework && !options_of<TensorFlow>(planned.strategy)) return {};
  std::vector<ProgramSetting> made;
  const auto* const own = options_of<TensorFlow>(planned.strategy);
  if (own && own->distribution && std::holds_alternative<ParameterServer>(*own->distribution)) {
    const auto& servers = std::get<ParameterServer>(*own->distribution);
    if (auto tf = servers_of_tensorflow_2(servers)) made.push_back(std::move(*tf));
    made.push_back(servers_of_tensorflow_1(servers));
    return made;
  }
  if (auto tf = tensorflow_2(planned)) made.push_back(std::move(*tf));
  if (auto tf = tensorflow_1(planned)) made.push_back(std::move(*tf));
  return made;
}

}  // namespace tutti::core
