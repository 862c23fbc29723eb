// Reads the settings of a strategy that depend neither on the cluster nor on the gradients.
// core/scenario/lower.h sets the rest. The algorithm is read first, because the defaults of
// merging, launch and staging depend on it. If a framework chooses the algorithm, this choice comes
// later. Until a framework has chosen the algorithm, it is tf_ring. Settings that the user has
// written are also stored separately (`requested_launch` and similar fields). Strategy::take()
// applies the user's settings again to the algorithm that is finally chosen. Contradictory
// settings, and settings without an effect, are reported as problems. If such settings were
// ignored, users would get plausible results of a strategy that they did not mean.

#include "core/scenario/strategy_reader.h"

#include <algorithm>
#include <utility>

#include <fmt/ranges.h>

#include "core/framework/registry.h"
#include "core/proto/scenario.pb.h"
#include "core/scenario/communicators_reader.h"
#include "core/text/limits.h"

namespace tutti::core {
namespace {

constexpr const char* kWhat = "strategy";
constexpr std::int64_t kMaxPackBytes = std::int64_t{1} << 50;

Reduction reduction_of(proto::Strategy::Reduction reduction) {
  switch (reduction) {
    case proto::Strategy::MEAN: return Reduction::kMean;
    case proto::Strategy::MIN: return Reduction::kMin;
    case proto::Strategy::MAX: return Reduction::kMax;
    case proto::Strategy::PROD: return Reduction::kProduct;
    default: return Reduction::kSum;
  }
}

/// Reads the options of TensorFlow's collective runtime, in which tf_ring is implemented.
TfRuntime tf_runtime_from(const proto::TfRing& message, Fields& fields) {
  TfRuntime runtime;
  runtime.subdiv_offsets.assign(message.subdiv_offsets().begin(), message.subdiv_offsets().end());
  if (const auto most = fields.integer(message, "max_subdivs_per_device", "tf_ring", -1, 1 << 10))
    runtime.max_subdivs_per_device = static_cast<int>(*most);
  if (message.has_align_bytes()) {
    const std::int32_t align = message.align_bytes();
    if (align != 64 && align != 32 && align != 16)
      fields.complain_at(message, "align_bytes",
                         "tf_ring: align_bytes must be 64, 32 or 16 (got {})", align);
    else
      runtime.align = Bytes(align);
  }
  runtime.tasks_by_name = message.task_order() == proto::TfRing::BY_NAME;
  runtime.gpu_ring_order = message.gpu_ring_order();
  return runtime;
}

class StrategyReader {
 public:
  StrategyReader(const proto::Strategy& message, const GuestMessages& guests, Fields& fields,
                 Complaints& complaints)
      : message_(message), guests_(guests), fields_(fields), complaints_(complaints) {}

  std::optional<Strategy> read() {
    const bool known = read_who_reduces();
    read_packing();
    read_overrides();
    read_staging();
    read_collective();
    read_compression();
    strategy_.reduction = reduction_of(message_.reduction());
    strategy_.launch_overhead =
        time_from_us(fields_.number(message_, "launch_us", kWhat, {0, kMaxLatencyUs}).value_or(0));
    strategy_.requested_launch_overhead = message_.has_launch_us();
    read_communicators();
    if (!known || !fields_.sources().whole(message_)) return std::nullopt;
    return std::move(strategy_);
  }

 private:
  // --- reduction ---

  /// Returns false if it cannot be determined how gradients are reduced.
  bool read_who_reduces() {
    ReadFramework read = read_framework(message_, guests_, fields_, complaints_);
    bool known = !read.given || read.framework;
    // A framework needs the cluster and the gradients for its choice, so it chooses later.
    const bool later = read.given && (!read.framework || read.framework->chooses_algorithm());
    const auto algorithm = later ? AlgorithmChoice(BaseAlgorithm::kTfRing) : read_algorithm();
    check_custom(later);
    known = known && algorithm.has_value();
    strategy_ = Strategy::for_algorithm(algorithm.value_or(BaseAlgorithm::kRing));
    strategy_.framework = std::move(read.framework);
    strategy_.shards =
        static_cast<int>(fields_.integer(message_, "shards", kWhat, 1, 1 << 20).value_or(1));
    if (const auto channels = fields_.integer(message_, "channels", kWhat, 1, 64))
      strategy_.channels = static_cast<int>(*channels);
    if (message_.has_tf_ring()) strategy_.tf_runtime = tf_runtime_from(message_.tf_ring(), fields_);
    strategy_.reduce_to_device = message_.reduce_to_device();
    strategy_.hierarchical_copy.drops_odd = message_.drop_odd_device();
    return known;
  }

  /// True if the text names a framework that is missing in the message because of a problem. If the
  /// framework is missing, it is unknown whether it chooses the algorithm.
  [[nodiscard]] bool framework_was_lost() const {
    return std::any_of(
        framework_kinds().begin(), framework_kinds().end(), [this](const FrameworkKind& kind) {
          const bool own = proto::Strategy::descriptor()->FindFieldByName(kind.name) != nullptr;
          return own && complaints_.has("strategy." + kind.name) &&
                 !fields_.has(message_, kind.name);
        });
  }

  /// True if the strategy has a message for this framework.
  static bool is_own_framework(const std::string& name) {
    return std::any_of(framework_kinds().begin(), framework_kinds().end(),
                       [&](const FrameworkKind& kind) { return kind.name == name; }) &&
           proto::Strategy::descriptor()->FindFieldByName(name) != nullptr;
  }

  std::optional<AlgorithmChoice> read_algorithm() {
    if (!message_.custom().file().empty())
      return refuse_algorithm_beside_custom(), BaseAlgorithm::kCustom;
    const auto algorithm = parse_algorithm(message_.algorithm());
    const std::vector<std::string> names = algorithm_names();
    if (message_.algorithm().empty() && framework_was_lost()) return std::nullopt;
    if (message_.algorithm().empty()) {
      fields_.complain_at(message_, "algorithm", ProblemCode::kMissing,
                          "strategy: algorithm is missing; set it to one of {}",
                          fmt::join(names, ", "));
    } else if (const auto why = why_no_combination(message_.algorithm())) {
      fields_.complain_at(message_, "algorithm", ProblemCode::kUnknownName,
                          "strategy: there is no algorithm \"{}\": {}", message_.algorithm(), *why);
    } else if (!algorithm) {
      if (is_own_framework(message_.algorithm())) {
        fields_.complain_at(message_, "algorithm", ProblemCode::kUnknownName,
                            "strategy: {0} is a framework, not an algorithm; write {0} {{}} beside "
                            "algorithm: \"nccl\" (strategy.{0}={{}} on the command line)",
                            message_.algorithm());
        return algorithm;
      }
      const std::string hint = did_you_mean(message_.algorithm(), names);
      const std::string of_file = hint_of_file(message_.algorithm());
      fields_.complain_at(message_, "algorithm", ProblemCode::kUnknownName,
                          "strategy: there is no algorithm \"{}\"{}{}", message_.algorithm(), hint,
                          of_file.empty() && hint.empty()
                              ? fmt::format("; there are {}", fmt::join(names, ", "))
                              : of_file);
    }
    return algorithm;
  }

  /// Returns the hint for a name that looks like an algorithm of a file: the name of such a file,
  /// or a two-level algorithm of which exactly one half is a known algorithm. Empty for other
  /// names.
  static std::string hint_of_file(const std::string& name) {
    const std::size_t slash = name.find('/');
    if (slash != std::string::npos && parse_algorithm(name.substr(0, slash)).has_value() !=
                                          parse_algorithm(name.substr(slash + 1)).has_value())
      return "; an algorithm of a file spans all replicas, so it cannot be one half of a two-level "
             "algorithm: describe both levels in the file, as hierarchical_overlap does";
    bool is_file = name == "custom";
    for (const char* ending : {".tutti-algorithm", ".xml", ".json"})
      is_file = is_file || name.ends_with(ending);
    return is_file ? "; to use an algorithm of a file, set custom { file: … } in place of algorithm"
                   : "";
  }

  void refuse_algorithm_beside_custom() {
    if (message_.algorithm().empty()) return;
    fields_.complain_at(
        message_, "algorithm", ProblemCode::kConflict,
        "strategy: algorithm and custom both set how gradients are reduced; keep one");
  }

  /// Checks the field `custom`. custom.h reads the file that it names.
  void check_custom(bool chosen_by_framework) {
    if (!message_.has_custom()) return;
    if (chosen_by_framework) {
      fields_.complain_at(message_, "custom", ProblemCode::kConflict,
                          "strategy: custom: the framework chooses the algorithm; remove custom");
    } else if (message_.custom().file().empty() &&
               (message_.custom().set_size() > 0 || message_.algorithm().empty())) {
      fields_.complain_at(message_.custom(), "file", ProblemCode::kMissing,
                          "custom: file is missing; set the path of an algorithm file");
    }
  }

  // --- packing ---

  void read_packing() {
    if (const auto bytes = fields_.integer(message_, "bytes_per_pack", kWhat, 0, kMaxPackBytes))
      strategy_.bytes_per_pack = Bytes(*bytes);
    strategy_.num_packs =
        static_cast<int>(fields_.integer(message_, "num_packs", kWhat, 0, 1 << 20).value_or(0));
    strategy_.agg_small_grads_max_bytes =
        Bytes(fields_.integer(message_, "agg_small_grads_max_bytes", kWhat, 1, kMaxPackBytes)
                  .value_or(0));
    strategy_.agg_small_grads_max_group = static_cast<int>(
        fields_.integer(message_, "agg_small_grads_max_group", kWhat, 1, 1 << 30).value_or(10));
    strategy_.agg_small_grads_exact_group = message_.agg_small_grads_exact_group();
    strategy_.all_reduce_merge_scope = static_cast<int>(
        fields_.integer(message_, "all_reduce_merge_scope", kWhat, 1, 1 << 30).value_or(1));
    strategy_.requested_merge_scope = message_.has_all_reduce_merge_scope();
    strategy_.pad_packs = message_.pad_packs();
    refuse_two_ways();
    refuse_unused_fields();
  }

  void refuse_two_ways() {
    // all_reduce_merge_scope merges gradients, or runs of small gradients. all_reduce_merge_scope
    // cannot merge packs, so it conflicts with bytes_per_pack and num_packs.
    if (message_.all_reduce_merge_scope() <= 1 ||
        (!message_.has_bytes_per_pack() && message_.num_packs() == 0))
      return;
    fields_.complain_at(message_, "all_reduce_merge_scope", ProblemCode::kConflict,
                        "strategy: {} and all_reduce_merge_scope both set the packing; keep one",
                        message_.has_bytes_per_pack() ? "bytes_per_pack" : "num_packs");
  }

  void refuse_unused_fields() {
    if (message_.num_packs() > 0 && message_.merging() != proto::Strategy::MERGING_DEFAULT)
      fields_.complain_at(message_, "merging", ProblemCode::kUnused,
                          "strategy: num_packs always concatenates all gradients; remove merging");
    const std::pair<bool, const char*> of_small[] = {
        {message_.agg_small_grads_exact_group(), "agg_small_grads_exact_group"},
        {message_.has_agg_small_grads_max_group(), "agg_small_grads_max_group"}};
    for (const auto& [given, field] : of_small) {
      if (given && !message_.has_agg_small_grads_max_bytes()) {
        fields_.complain_at(
            message_, field, ProblemCode::kUnused,
            "strategy: {} has no effect without agg_small_grads_max_bytes; set both", field);
      }
    }
  }

  // --- other settings ---

  void read_overrides() {
    switch (message_.merging()) {
      case proto::Strategy::SCOPED_ALLOCATOR:
        strategy_.requested_merging = Merging::kScopedAllocator;
        break;
      case proto::Strategy::CONCAT: strategy_.requested_merging = Merging::kConcat; break;
      case proto::Strategy::SEPARATE: strategy_.requested_merging = Merging::kSeparate; break;
      default: break;
    }
    if (message_.launch() == proto::Strategy::CONCURRENT)
      strategy_.requested_launch = Launch::kConcurrent;
    if (message_.launch() == proto::Strategy::SERIAL) strategy_.requested_launch = Launch::kSerial;
    if (message_.update() == proto::Strategy::AFTER_ALL)
      strategy_.requested_update = Update::kAfterAll;
    if (message_.update() == proto::Strategy::PER_PACK)
      strategy_.requested_update = Update::kPerPack;
    strategy_.apply_overrides();
    strategy_.update = strategy_.requested_update.value_or(Update::kPerPack);
  }

  void read_staging() {
    strategy_.requested_staging = message_.staging() != proto::Strategy::STAGING_DEFAULT;
    switch (message_.staging()) {
      case proto::Strategy::DIRECT: strategy_.staging = Staging::kDirect; break;
      case proto::Strategy::VIA_HOST: strategy_.staging = Staging::kViaHost; break;
      case proto::Strategy::VIA_HOST_ON_REQUEST:
        strategy_.staging = Staging::kViaHostOnRequest;
        break;
      default: break;
    }
  }

  void read_collective() {
    strategy_.collective = collective_of(message_.collective());
    strategy_.root =
        static_cast<Rank>(fields_.integer(message_, "root", kWhat, 0, kMaxRanks).value_or(0));
    strategy_.out_of_place = message_.out_of_place();
    // The file of a custom algorithm may determine which collective is executed.
    if (!message_.custom().file().empty() && !message_.has_collective()) return;
    if (!message_.has_root() || has_root(strategy_.collective)) return;
    fields_.complain_at(message_, "root", ProblemCode::kUnused,
                        "strategy: {} has no root; only broadcast, reduce, gather and scatter have "
                        "one; remove root",
                        to_string(strategy_.collective));
  }

  void read_communicators() {
    const proto::Nccl& nccl = message_.nccl();
    const auto count = fields_.integer(nccl, "communicators", "strategy: nccl", 1, 1 << 10);
    if (!count) return;
    strategy_.nccl_communicators = static_cast<int>(*count);
    if (message_.launch() == proto::Strategy::CONCURRENT) return;
    fields_.complain_at(nccl, "communicators", ProblemCode::kUnused,
                        "strategy: nccl: communicators has no effect if each pack waits for the "
                        "previous one; set launch: CONCURRENT, or remove communicators");
  }

  void read_compression() {
    if (!message_.has_compression()) return;
    const proto::Compression& c = message_.compression();
    if (!c.has_type() || (c.type() != proto::FLOAT16 && c.type() != proto::BFLOAT16)) {
      return fields_.complain_at(c, "type",
                                 c.has_type() ? ProblemCode::kInvalid : ProblemCode::kMissing,
                                 "compression: type must be FLOAT16 or BFLOAT16{}",
                                 c.has_type() ? "" : " (it is not set)");
    }
    if (message_.has_agg_small_grads_max_bytes() && c.of() == proto::Compression::GRADIENTS) {
      fields_.complain_at(message_, "agg_small_grads_max_bytes", ProblemCode::kConflict,
                          "strategy: agg_small_grads_max_bytes packs only float32 gradients, but "
                          "compression of GRADIENTS converts all gradients to smaller types; set "
                          "compression {{ of: PACKS }}, or use bytes_per_pack");
    }
    strategy_.compression =
        Compression{static_cast<DataType>(c.type()), c.of() == proto::Compression::PACKS};
  }

  const proto::Strategy& message_;
  const GuestMessages& guests_;
  Fields& fields_;
  Complaints& complaints_;
  Strategy strategy_;
};

}  // namespace

std::optional<Strategy> strategy_from(const proto::Scenario& scenario, const GuestMessages& guests,
                                      Fields& fields, Complaints& complaints) {
  if (scenario.has_strategy())
    return StrategyReader(scenario.strategy(), guests, fields, complaints).read();
  fields.complain_at(scenario, "strategy", ProblemCode::kMissing,
                     "strategy is missing; the minimum is strategy {{ algorithm: \"ring\" }}");
  return std::nullopt;
}

}  // namespace tutti::core
