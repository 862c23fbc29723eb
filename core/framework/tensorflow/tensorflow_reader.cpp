// Reads the message `tensorflow` of a scenario's strategy: the chosen distribution strategy of
// TensorFlow, and its packing. The schema already prevents contradictions inside the message
// `tensorflow`. This file reports the fields of the scenario's strategy that conflict with the
// message `tensorflow`.

#include <algorithm>

#include <fmt/format.h>

#include "core/framework/tensorflow/all_reduce_spec_reader.h"
#include "core/framework/tensorflow/distribution_reader.h"
#include "core/framework/tensorflow/multi_worker_reader.h"
#include "core/framework/tensorflow/tensorflow.h"
#include "core/proto/scenario.pb.h"
#include "core/strategy/algorithm_table.h"

namespace tutti::core {
namespace {

class TensorFlowReader {
 public:
  explicit TensorFlowReader(const StrategyText& text)
      : text_(text),
        strategy_(text.message),
        message_(text.message.tensorflow()),
        fields_(text.fields) {}

  /// Returns the framework; null if it cannot be determined how gradients are reduced.
  std::shared_ptr<const Framework> read() {
    if (message_.strategy_case() == proto::TensorFlow::STRATEGY_NOT_SET) {
      fields_.complain(message_, ProblemCode::kMissing,
                       "tensorflow: the strategy is missing; set one, such as "
                       "multi_worker_mirrored {{}} or mirrored {{}}");
      return nullptr;
    }
    const std::size_t before = fields_.problems().size();
    refuse_chosen_fields();
    bool known = true;
    switch (message_.strategy_case()) {
      case proto::TensorFlow::kMultiWorkerMirrored: read_multi_worker_mirrored(); break;
      case proto::TensorFlow::kMultiWorkerAllReduce: known = read_multi_worker_all_reduce(); break;
      case proto::TensorFlow::kTfCnnBenchmarks: known = read_tf_cnn_benchmarks(); break;
      default: read_distribution();
    }
    // The strategy's collective determines which entries of a spec are valid, so the collective is
    // checked first.
    if (options_.spec && fields_.problems().size() != before) return nullptr;
    return known ? tensorflow(std::move(options_)) : nullptr;
  }

 private:
  void refuse_chosen_fields() {
    const auto refuse = [&](bool given, const char* field) {
      if (given)
        fields_.complain_at(strategy_, field, ProblemCode::kConflict,
                            "strategy: {} and tensorflow exclude each other, because TensorFlow "
                            "determines this setting itself; keep one of them",
                            field);
    };
    refuse(!strategy_.algorithm().empty(), "algorithm");
    // MultiWorkerMirroredStrategy uses TensorFlow's runtime. TensorFlow's runtime has collectives
    // other than the all-reduce, and supports several rings, so these fields are allowed.
    if (message_.has_multi_worker_mirrored()) return;
    refuse(strategy_.shards() > 1, "shards");
    refuse(strategy_.collective() != proto::Strategy::ALL_REDUCE, "collective");
  }

  void note_place(const char* field, const std::string& path) {
    options_.written_as.emplace(field, "tensorflow." + path);
  }

  void read_multi_worker_mirrored() {
    options_.collective_all_reduce = collective_all_reduce_from(strategy_, fields_);
    const std::string here = "multi_worker_mirrored.";
    for (const char* field : {"communication_options", "hints", "collective_all_reduce"})
      note_place(field, here + field);
    const proto::CollectiveAllReduce& how =
        message_.multi_worker_mirrored().collective_all_reduce();
    options_.packing = packing_from(
        how, {"collective_all_reduce", "num_packs", false, "all_reduce_merge_scope"}, fields_);
    note_place("num_packs", here + "collective_all_reduce.num_packs");
    note_place("all_reduce_merge_scope", here + "collective_all_reduce.all_reduce_merge_scope");
  }

  bool read_multi_worker_all_reduce() {
    const proto::MultiWorkerAllReduce& message = message_.multi_worker_all_reduce();
    const std::string here = "multi_worker_all_reduce";
    options_.packing = packing_from(message, {here, "num_packs", true, ""}, fields_);
    for (const char* field : {"num_packs", "agg_small_grads_max_bytes"})
      note_place(field, fmt::format("{}.{}", here, field));
    check_packing(message, "num_packs", here, message.all_reduce_spec());
    return read_spec(message.all_reduce_spec(), here);
  }

  bool read_tf_cnn_benchmarks() {
    read_distribution();
    const proto::TfCnnBenchmarks& flags = message_.tf_cnn_benchmarks();
    const std::string here = "tf_cnn_benchmarks";
    options_.packing =
        packing_from(flags, {here, "gradient_repacking", true, "allreduce_merge_scope"}, fields_);
    note_place("num_packs", here + ".gradient_repacking");
    note_place("agg_small_grads_max_bytes", here + ".agg_small_grads_max_bytes");
    note_place("all_reduce_merge_scope", here + ".allreduce_merge_scope");
    options_.shards =
        static_cast<int>(fields_.integer(flags, "shards", here, 1, 1 << 20).value_or(1));
    note_place("shards", here + ".shards");
    check_packing(flags, "gradient_repacking", here, flags.all_reduce_spec());
    if (flags.allreduce_merge_scope() > 1 &&
        (flags.has_all_reduce_spec() || flags.gradient_repacking() > 0))
      fields_.complain_at(flags, "allreduce_merge_scope", ProblemCode::kUnused,
                          "tf_cnn_benchmarks: allreduce_merge_scope has no effect with {}, which "
                          "does not merge packs; remove allreduce_merge_scope",
                          flags.has_all_reduce_spec() ? "all_reduce_spec" : "gradient_repacking");
    return !flags.has_all_reduce_spec() || read_spec(flags.all_reduce_spec(), here);
  }

  void read_distribution() {
    options_.distribution = distribution_from(strategy_, fields_);
    const std::string name(field_of(*options_.distribution));
    options_.written_as.emplace(name, "tensorflow." + name);
    if (message_.has_mirrored()) note_place("num_packs", "mirrored.num_packs");
  }

  /// If a program sets several of these options, MultiWorkerAllReduce and tf_cnn_benchmarks use the
  /// first one; so does a LITERAL spec.
  void check_packing(const google::protobuf::Message& message, const char* packs,
                     const std::string& what, const proto::AllReduceSpec& spec) {
    const bool by_size = fields_.has(message, "agg_small_grads_max_bytes");
    if (by_size && options_.packing.num_packs > 0 &&
        spec.validation() != proto::AllReduceSpec::LITERAL)
      fields_.complain_at(message, "agg_small_grads_max_bytes", ProblemCode::kConflict,
                          "{}: {} and agg_small_grads_max_bytes both set the packing; keep one",
                          what, packs);
    const proto::Compression& compression = strategy_.compression();
    if (by_size && strategy_.has_compression() && compression.of() == proto::Compression::GRADIENTS)
      fields_.complain_at(
          message, "agg_small_grads_max_bytes",
          "{}: agg_small_grads_max_bytes packs only float32 gradients, but compression of "
          "GRADIENTS converts all gradients to smaller types; set compression {{ of: PACKS }}",
          what);
  }

  bool read_spec(const proto::AllReduceSpec& message, const std::string& inside) {
    note_place("all_reduce_spec", inside + ".all_reduce_spec");
    options_.spec = all_reduce_spec_from(
        message, "strategy." + options_.written_as["all_reduce_spec"], fields_, text_.complaints);
    if (!options_.spec) return false;
    options_.spec_text = message.text();
    if (strategy_.merging() != proto::Strategy::MERGING_DEFAULT)
      fields_.complain_at(strategy_, "merging", ProblemCode::kUnused,
                          "strategy: merging has no effect with all_reduce_spec, which packs by {} "
                          "or agg_small_grads_max_bytes; remove merging",
                          message_.has_tf_cnn_benchmarks() ? "gradient_repacking" : "num_packs");
    const bool nccl = std::any_of(
        options_.spec->entries.begin(), options_.spec->entries.end(),
        [](const SpecEntry& e) { return e.algorithm && traits(*e.algorithm).channels; });
    if (strategy_.has_channels() && !nccl)
      fields_.complain_at(strategy_, "channels", ProblemCode::kUnused,
                          "strategy: channels applies only to algorithms that begin with nccl, but "
                          "no entry of all_reduce_spec has such an algorithm; remove channels");
    return true;
  }

  const StrategyText& text_;
  const proto::Strategy& strategy_;
  const proto::TensorFlow& message_;
  Fields& fields_;
  TensorFlow options_;
};

}  // namespace

std::shared_ptr<const Framework> read_tensorflow(const StrategyText& text) {
  return TensorFlowReader(text).read();
}

}  // namespace tutti::core
