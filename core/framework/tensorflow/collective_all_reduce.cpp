// CollectiveAllReduce changed with almost every release of TensorFlow. The four generations of
// CollectiveAllReduce differ in how gradients are packed (by number of gradients, into equal
// chunks, or by bytes), in their hints, and in how launches are ordered. Each function sets the
// fields of Strategy for one aspect. The order of launches is the most difficult aspect. With
// collective_nccl, collectives are launched by descending instance key. With the hint NCCL, or with
// the token of TensorFlow 2.5, collectives are launched in the order in which the program passes
// the gradients. Notes explain results that may surprise users of TensorFlow.
// communication_options.cpp chooses between ring and NCCL, also for other strategies. SOURCE:
// tensorflow/python/distribute/cross_device_ops.py, CollectiveAllReduce.

#include "core/framework/tensorflow/collective_all_reduce.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/strategy/algorithm_table.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

std::string_view to_string(Generation generation) {
  switch (generation) {
    case Generation::kTf115: return "TF_1_15";
    case Generation::kTf21: return "TF_2_1";
    case Generation::kTf24: return "TF_2_4";
    case Generation::kTf25: return "TF_2_5";
  }
  return "";
}

std::vector<StrategyProblem> problems_of(const CollectiveAllReduce& all_reduce) {
  std::vector<StrategyProblem> problems;
  const CommunicationOptions options = all_reduce.merged();
  const bool first = all_reduce.generation == Generation::kTf115;
  if (first && options.implementation != Implementation::kAuto) {
    problems.push_back(
        {"communication_options",
         "implementation: CollectiveAllReduce of TF_1_15 ignores this hint; to use NCCL, set "
         "collective_all_reduce { collective_nccl: true }, or choose a later generation"});
  }
  if ((first || all_reduce.generation == Generation::kTf21) && options.bytes_per_pack != 0) {
    problems.push_back(
        {"communication_options",
         fmt::format("bytes_per_pack: CollectiveAllReduce of {} packs by number of gradients; set "
                     "collective_all_reduce {{ {}: … }}, or choose a later generation",
                     to_string(all_reduce.generation),
                     first ? "all_reduce_merge_scope" : "num_packs")});
  }
  if ((first || all_reduce.generation == Generation::kTf21) && options.timeout_seconds) {
    problems.push_back({"communication_options",
                        fmt::format("timeout_seconds: collectives of {} have no timeout; remove "
                                    "timeout_seconds, or choose a later generation",
                                    to_string(all_reduce.generation))});
  }
  if (first && all_reduce.eager) {
    problems.push_back({"collective_all_reduce",
                        "eager: TF_1_15 says \"Eager execution with collective ops is not "
                        "supported yet.\"; remove eager, or choose a later generation"});
  }
  return problems;
}

namespace {

class CollectiveAllReduceLowering {
 public:
  CollectiveAllReduceLowering(const CollectiveAllReduce& all_reduce, const Cluster& cluster,
                              std::int64_t gradients, Strategy& strategy)
      : strategy_(strategy),
        all_reduce_(all_reduce),
        options_(all_reduce_.merged()),
        gradients_(gradients) {
    has_gpus_ =
        std::all_of(cluster.groups().begin(), cluster.groups().end(),
                    [](const WorkerGroup& group) { return !group.machine->gpus().empty(); });
  }

  void lower() {
    choose_algorithm();
    pack();
    order_launches();
    strategy_.timeout = timer(options_);
    if (strategy_.timeout) {
      strategy_.notes.add(
          "tensorflow.two-timers",
          "each collective has two timeouts of {:g} s, one for its start on all devices and one "
          "for its completion, so a failure may be reported only after twice this time",
          *options_.timeout_seconds);
    }
    // From 2.3 on, the optimizer has an option that turns off its aggregation of gradients.
    const bool waits =
        all_reduce_.aggregates_gradients && all_reduce_.generation >= Generation::kTf24;
    strategy_.update =
        strategy_.requested_update.value_or(waits ? Update::kAfterAll : Update::kPerPack);
    strategy_.instance_keys = true;
    strategy_.reduced_by =
        fmt::format("CollectiveAllReduce {}, implementation {}", to_string(all_reduce_.generation),
                    to_string(options_.implementation));
    rule_sparse_gradients();
    rule_checkpoints();
  }

 private:
  // --- ring or NCCL ---

  void choose_algorithm() {
    const Implementation requested = options_.implementation;
    // In graph mode, the strategy also sets the session's config. A hint cannot override the
    // config.
    const bool by_config = all_reduce_.collective_nccl.value_or(
        requested == Implementation::kNccl && !all_reduce_.eager &&
        all_reduce_.generation >= Generation::kTf21);
    hint_ = all_reduce_.generation == Generation::kTf115  ? Implementation::kAuto
            : all_reduce_.generation == Generation::kTf25 ? requested
                                                          : hint_for_batch(requested, gradients_);
    const auto how = runtime_collective(strategy_.collective, by_config, hint_, has_gpus_);
    const bool nccl = how == RuntimeCollective::kNcclReduce;
    const Strategy usual =
        Strategy::for_algorithm(nccl ? BaseAlgorithm::kNccl : BaseAlgorithm::kTfRing);
    strategy_.algorithm = usual.algorithm;
    if (!strategy_.requested_staging) strategy_.staging = usual.staging;
    if (how == RuntimeCollective::kRingReduce || nccl) explain_choice(requested, by_config, nccl);
  }

  void explain_choice(Implementation requested, bool by_config, bool nccl) {
    if ((by_config || hint_ == Implementation::kNccl) && !nccl) {
      strategy_.notes.add("tensorflow.no-gpus-for-nccl",
                          "TensorFlow silently uses its ring instead of NCCL, because a worker of "
                          "this cluster has no GPU; the plan uses the ring too");
    } else if (requested == Implementation::kNccl && hint_ != requested) {
      strategy_.notes.add(
          "tensorflow.batch-of-one-is-auto",
          "for a batch of one gradient, TensorFlow replaces the implementation NCCL by AUTO; {}",
          nccl ? "collective_nccl in the session's config still selects NCCL"
               : "without collective_nccl in the session's config, TensorFlow uses its ring");
    } else if (by_config && requested != Implementation::kNccl) {
      strategy_.notes.add(
          "tensorflow.session-means-nccl",
          "because collective_nccl is set in the session's config, implementation {} selects NCCL",
          to_string(requested));
    } else if (requested == Implementation::kAuto && has_gpus_) {
      strategy_.notes.add("tensorflow.auto-is-ring",
                          "implementation AUTO selects TensorFlow's ring even on GPUs; set "
                          "implementation: NCCL to use NCCL");
    }
  }

  // --- packing ---

  void pack() {
    strategy_.merging = Merging::kScopedAllocator;
    switch (all_reduce_.generation) {
      case Generation::kTf115:
        if (!strategy_.requested_merge_scope) strategy_.all_reduce_merge_scope = kDefaultMergeScope;
        break;
      case Generation::kTf21:
        strategy_.chunks_by_count = std::max(1, std::exchange(strategy_.num_packs, 0));
        break;
      case Generation::kTf25: strategy_.merging = Merging::kConcat; [[fallthrough]];
      case Generation::kTf24: strategy_.bytes_per_pack = Bytes(options_.bytes_per_pack); break;
    }
    if (!all_reduce_.eager) return;
    strategy_.merging = Merging::kSeparate;
    strategy_.notes.add(
        "tensorflow.eager-packs-nothing",
        "{}, so in eager mode every gradient is a separate collective",
        all_reduce_.generation == Generation::kTf25
            ? "TensorFlow concatenates packs only in graph mode"
            : "the ScopedAllocator, which merges collectives, works only in graph mode");
  }

  // --- launch order ---

  void order_launches() {
    const bool nccl = traits(strategy_.algorithm).nccl == NcclPart::kAll;
    const bool token = all_reduce_.generation == Generation::kTf25;
    strategy_.launch = nccl || token ? Launch::kSerial : Launch::kConcurrent;
    // With the hint NCCL, each launch waits for the result of the previous launch. With the config
    // alone, launches are only ordered.
    const bool edges = token || hint_ == Implementation::kNccl;
    strategy_.launch_order = edges ? LaunchOrder::kPlanOrder : LaunchOrder::kDescendingKeys;
    if (nccl && !edges && gradients_ > 1) {
      strategy_.notes.add("tensorflow.descending-keys",
                          "because NCCL was selected by collective_nccl, collectives are launched "
                          "in descending order of instance key: {}",
                          all_reduce_.generation == Generation::kTf115
                              ? "the gradients passed last to the all-reduce are launched first"
                              : "the gradients of the first layers, which are ready last, are "
                                "launched first, so all other packs wait for them");
    }
    if (token && !nccl)
      strategy_.notes.add("tensorflow.token-orders-rings",
                          "TensorFlow orders all collectives of a device by a token, so they run "
                          "one after the other, even with the ring");
  }

  // --- sparse gradients and checkpoints ---

  void rule_sparse_gradients() {
    SparseRules& rules = strategy_.sparse;
    // TensorFlow's runtime itself gathers sparse gradients, even if NCCL reduces the dense ones.
    rules.gathered_by = BaseAlgorithm::kTfRing;
    rules.indices_beside_values = true;
    rules.lengths_first =
        all_reduce_.generation == Generation::kTf24 || all_reduce_.generation == Generation::kTf25;
    rules.after_last_pack = all_reduce_.generation == Generation::kTf25;
    if (all_reduce_.generation == Generation::kTf24) rules.whole_if_rows_differ = "TensorFlow 2.4";
    if (all_reduce_.generation == Generation::kTf115)
      rules.refused_if_rows_differ = {"collective_all_reduce",
                                      "TF_1_15 fails if replicas have different numbers of rows of "
                                      "a sparse gradient (rows_differ); use TF_2_4"};
  }

  /// A checkpoint reduces single tensors. For a single tensor, TensorFlow replaces NCCL by AUTO,
  /// which means the ring unless the program's configuration selects NCCL.
  void rule_checkpoints() {
    if (!all_reduce_.collective_nccl.value_or(!all_reduce_.eager))
      strategy_.checkpoint.by = BaseAlgorithm::kTfRing;
  }

  static constexpr int kDefaultMergeScope = 32;

  Strategy& strategy_;
  const CollectiveAllReduce& all_reduce_;
  CommunicationOptions options_;
  std::int64_t gradients_;
  bool has_gpus_ = false;
  Implementation hint_ = Implementation::kAuto;
};

}  // namespace

void lower_collective_all_reduce(const CollectiveAllReduce& all_reduce, const Cluster& cluster,
                                 std::int64_t gradients, Strategy& strategy) {
  CollectiveAllReduceLowering(all_reduce, cluster, gradients, strategy).lower();
  strategy.apply_overrides();
}

}  // namespace tutti::core
