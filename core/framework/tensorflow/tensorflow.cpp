#include "core/framework/tensorflow/tensorflow.h"

#include "core/framework/tensorflow/all_reduce_spec_reader.h"
#include "core/framework/tried_sizes.h"

namespace tutti::core {
namespace {

class TensorFlowFramework final : public FrameworkOf<TensorFlow> {
 public:
  using FrameworkOf::FrameworkOf;

  [[nodiscard]] std::string_view name() const override { return "tensorflow"; }
  [[nodiscard]] bool chooses_algorithm() const override { return true; }

  void partition(Workload& workload, Complaints& complaints) const override {
    const auto* const servers =
        options().distribution ? std::get_if<ParameterServer>(&*options().distribution) : nullptr;
    if (servers && servers->partitioner)
      partition_variables(*servers->partitioner,
                          "strategy.tensorflow.parameter_server.variable_partitioner", workload,
                          complaints);
  }

  void lower(const LoweringTarget& target, Strategy& strategy,
             Complaints& complaints) const override {
    options().packing.apply(strategy);
    // To compute a mean, TensorFlow runs a separate operation after the collective, which divides
    // the sum by the number of replicas. SOURCE:
    // tensorflow/python/distribute/cross_device_ops.py (ReduceOp.MEAN);
    // tensorflow/core/kernels/collective_nccl_reducer.cc (final_op).
    strategy.division = Division::kAfter;
    if (options().shards > 1) strategy.shards = options().shards;
    strategy.written_as = options().written_as;
    if (options().spec) take_spec(*options().spec, strategy);
    if (options().collective_all_reduce)
      lower_collective_all_reduce(*options().collective_all_reduce, target.cluster,
                                  std::ssize(target.workload.gradients), strategy);
    if (options().distribution)
      lower_distribution(*options().distribution, target.cluster, strategy, complaints);
    if (strategy.spec) check_entries(strategy, target.cluster, complaints);
    refuse_unsupported_reductions(target, strategy, complaints);
  }

  [[nodiscard]] std::optional<std::vector<TriedValues>> tried_values(
      const Workload& workload) const override {
    if (options().distribution) return tried_values_of(*options().distribution);
    if (!options().collective_all_reduce) return std::vector<TriedValues>();
    const std::string here = "strategy.tensorflow.multi_worker_mirrored.communication_options.";
    return std::vector<TriedValues>{{here + "bytes_per_pack", tried_bytes(workload)},
                                    {here + "implementation", {"RING", "NCCL"}}};
  }

 private:
  /// SOURCE: tensorflow/python/distribute/reduce_util.py, ReduceOp; CollectiveReduce of int32 on
  /// GPUs fails with INTERNAL.
  void refuse_unsupported_reductions(const LoweringTarget& target, const Strategy& strategy,
                                     Complaints& complaints) const {
    if (!reduces(strategy.collective)) return;
    if (strategy.reduction != Reduction::kSum && strategy.reduction != Reduction::kMean &&
        !strategy.servers) {
      complaints.complain_at("strategy.reduction", ProblemCode::kConflict,
                             "strategy: reduction: TensorFlow raises ValueError: "
                             "tf.distribute.ReduceOp has SUM and MEAN, but not {}; use SUM or MEAN",
                             to_string(strategy.reduction));
    }
    const auto* const benchmarks =
        options().distribution ? std::get_if<TfCnnBenchmarks>(&*options().distribution) : nullptr;
    const bool by_runtime =
        options().collective_all_reduce ||
        (benchmarks &&
         benchmarks->variable_update == TfCnnBenchmarks::VariableUpdate::kCollectiveAllReduce);
    if (!by_runtime || target.cluster.part(target.cluster.replica(0)).kind != PartKind::kGpu)
      return;
    for (const Variable& variable : target.workload.gradients) {
      if (variable.type != DataType::kInt32 || variable.slices) continue;
      return complaints.complain_at(
          "strategy.tensorflow", ProblemCode::kConflict,
          "tensorflow: the gradient of \"{}\" is int32, which TensorFlow's collectives do not "
          "reduce on GPUs (INTERNAL); use int64 or a floating-point type",
          variable.name);
    }
  }

  static void take_spec(const AllReduceSpec& spec, Strategy& strategy) {
    const auto largest = spec.entries.empty() ? std::nullopt : spec.entries.back().algorithm;
    strategy.take(largest.value_or(*AllReduceSpec::usual().entries.back().algorithm));
    strategy.spec = spec;
    strategy.sparse.refused = {
        "all_reduce_spec",
        "MultiWorkerAllReduce does not support sparse gradients (IndexedSlices); remove "
        "sparse_gradient to reduce the whole variable, or use multi_worker_mirrored"};
  }

  /// Checks the spec's entries. In a LITERAL spec, only the entries that get gradients are checked,
  /// and plan_by_spec() does this later.
  void check_entries(const Strategy& strategy, const Cluster& cluster,
                     Complaints& complaints) const {
    if (strategy.spec->validation == SpecValidation::kLiteral) return;
    for (std::size_t e = 0; e < strategy.spec->entries.size(); ++e) {
      for (const SpecProblem& problem : problems_on(strategy, e, cluster))
        complain_about(problem, *strategy.spec, options().spec_text,
                       "strategy." + options().written_as.at("all_reduce_spec"), complaints);
    }
  }

  static std::vector<TriedValues> tried_values_of(const Distribution& distribution) {
    if (std::holds_alternative<Mirrored>(distribution)) {
      return {{"strategy.tensorflow.mirrored.cross_device_ops",
               {"NCCL_ALL_REDUCE", "HIERARCHICAL_COPY_ALL_REDUCE", "REDUCTION_TO_ONE_DEVICE"}},
              {"strategy.tensorflow.mirrored.num_packs", {"0", "1", "2", "4", "8", "16"}}};
    }
    if (const auto* const servers = std::get_if<ParameterServer>(&distribution)) {
      const std::string here = "strategy.tensorflow.parameter_server.";
      std::vector<TriedValues> tried{{here + "placement", {"ROUND_ROBIN", "GREEDY_BY_BYTES"}},
                                     {here + "variable_read_cache", {"NONE", "CPU"}}};
      // A partitioner has only one rule, so num_shards is varied only if no other rule is set.
      if (!servers->partitioner || std::holds_alternative<FixedSize>(servers->partitioner->rule))
        tried.push_back(
            {here + "variable_partitioner.fixed_size.num_shards", {"1", "2", "4", "8", "16"}});
      return tried;
    }
    if (std::holds_alternative<TfCnnBenchmarks>(distribution)) {
      return {{"strategy.tensorflow.tf_cnn_benchmarks.variable_update",
               {"PARAMETER_SERVER", "REPLICATED", "DISTRIBUTED_REPLICATED",
                "DISTRIBUTED_ALL_REDUCE", "COLLECTIVE_ALL_REDUCE"}},
              {"strategy.tensorflow.tf_cnn_benchmarks.local_parameter_device", {"GPU", "CPU"}}};
    }
    return {};
  }
};

}  // namespace

std::shared_ptr<const Framework> tensorflow(TensorFlow options) {
  return std::make_shared<TensorFlowFramework>(std::move(options));
}

FrameworkKind tensorflow_kind() {
  return {"tensorflow",
          read_tensorflow,
          tensorflow_settings,
          {"strategy.tensorflow.multi_worker_mirrored.communication_options.bytes_per_pack",
           "strategy.tensorflow.multi_worker_mirrored.hints.bytes_per_pack",
           "strategy.tensorflow.multi_worker_mirrored.collective_all_reduce.num_packs",
           "strategy.tensorflow.multi_worker_mirrored.collective_all_reduce.all_reduce_merge_scope",
           "strategy.tensorflow.multi_worker_all_reduce.num_packs",
           "strategy.tensorflow.multi_worker_all_reduce.agg_small_grads_max_bytes",
           "strategy.tensorflow.multi_worker_all_reduce.agg_small_grads_max_group",
           "strategy.tensorflow.multi_worker_all_reduce.agg_small_grads_exact_group",
           "strategy.tensorflow.tf_cnn_benchmarks.gradient_repacking",
           "strategy.tensorflow.tf_cnn_benchmarks.agg_small_grads_max_bytes",
           "strategy.tensorflow.tf_cnn_benchmarks.agg_small_grads_max_group",
           "strategy.tensorflow.tf_cnn_benchmarks.agg_small_grads_exact_group",
           "strategy.tensorflow.tf_cnn_benchmarks.allreduce_merge_scope"},
          nullptr,
          HostLibrary::kGrpc};
}

}  // namespace tutti::core
