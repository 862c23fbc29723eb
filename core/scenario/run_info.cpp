// Collects the facts about a run that its timeline needs, because readers of a timeline do not have
// the plan. The description of a strategy begins with its algorithm. After the algorithm, the
// description lists the settings that were set or that differ from the algorithm's defaults, in a
// fixed order and separated by ", ". To compare two runs, Tutti divides their descriptions at ", "
// and names each run by the settings that differ. Lower bounds are added only for all-reduces over
// all replicas, because they hold only there. NCCL's choice and error bands are added only for
// simulated runs without fused packs. core/strategy/bounds.cpp computes the bounds.

#include "core/scenario/run_info.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/format.h"
#include "core/base/version.h"
#include "core/lowering/framework.h"
#include "core/lowering/reduction_scope.h"
#include "core/lowering/server_plan.h"
#include "core/nccl/collective_time.h"
#include "core/scenario/custom.h"
#include "core/scenario/nccl_model.h"
#include "core/strategy/algorithm_table.h"
#include "core/strategy/bounds.h"

namespace tutti::core {

std::string describe(const Cluster& cluster) {
  std::string text;
  for (std::size_t g = 0; g < cluster.groups().size(); ++g) {
    const WorkerGroup& group = cluster.groups()[g];
    text +=
        fmt::format("{}{} × {}{}", text.empty() ? "" : " + ", group.count, group.machine->name(),
                    g < cluster.replica_groups() ? ""
                    : group.count == 1           ? " as server"
                                                 : " as servers");
  }
  const bool gpus = cluster.part(cluster.replica(0)).kind == PartKind::kGpu;
  text += fmt::format(", {} {}{}", cluster.replicas(), gpus ? "GPU" : "CPU",
                      cluster.replicas() == 1 ? "" : "s");
  return cluster.fabric() ? text + ", " + cluster.fabric()->describe() : text;
}

namespace {

/// Describes the settings of TensorFlow that differ from TensorFlow's defaults.
std::string describe(const TfRuntime& runtime) {
  std::string text;
  if (!runtime.subdiv_offsets.empty())
    text += fmt::format(", subdivisions {}", fmt::join(runtime.subdiv_offsets, ", "));
  if (runtime.max_subdivs_per_device)
    text += fmt::format(", up to {} subdivisions per device", *runtime.max_subdivs_per_device);
  if (runtime.align != TfRuntime().align)
    text += fmt::format(", aligned to {} bytes", runtime.align.count());
  if (!runtime.tasks_by_name) text += ", tasks by number";
  if (!runtime.gpu_ring_order.empty())
    text += fmt::format(", GPUs in the order {}", runtime.gpu_ring_order);
  return text;
}

/// For example "pscpu:2048:xring (limits in bytes)".
std::string describe(const AllReduceSpec& spec) {
  std::string text = to_text(spec);
  const bool limited = std::any_of(spec.entries.begin(), spec.entries.end(),
                                   [](const SpecEntry& e) { return e.limit >= 0; });
  if (limited)
    text += spec.limit_unit == LimitUnit::kBytes ? " (limits in bytes)" : " (limits in elements)";
  if (spec.result_order == ResultOrder::kByEntry) text += ", results by entry";
  return text;
}

}  // namespace

std::string describe(const Strategy& strategy, ShownSizes sizes) {
  const auto size = [&](Bytes bytes, const char* unit) {
    return sizes == ShownSizes::kInUnits ? show_exact(bytes)
                                         : fmt::format("{}{}", bytes.count(), unit);
  };
  std::string text = strategy.spec     ? describe(*strategy.spec)
                     : strategy.custom ? describe(*strategy.custom)
                                       : std::string(to_string(strategy.algorithm));
  const bool in_parts = strategy.servers && strategy.servers->placement == Placement::kByHash;
  if (strategy.servers)
    text = fmt::format("{} {}", in_parts ? "partitions" : "variables", describe(*strategy.servers));
  if (!strategy.distribution_name.empty())
    text = fmt::format("{}: {}", strategy.distribution_name, text);
  if (strategy.servers && strategy.servers->asynchronous) text += ", asynchronous";
  if (traits(strategy.algorithm).chooses_device)
    text += strategy.reduce_to ? fmt::format(" (replica {})", *strategy.reduce_to) : " (CPU)";
  if (strategy.hierarchical_copy.topology == HierarchicalCopy::Topology::kGcpV100)
    text += ", GCP_V100";
  if (strategy.hierarchical_copy.drops_odd)
    text += ", without the last of an odd number of devices";
  if (!strategy.reduced_by.empty()) text += fmt::format(" ({})", strategy.reduced_by);
  if (strategy.collective != CollectiveKind::kAllReduce)
    text += fmt::format(", {}", to_string(strategy.collective));
  if (has_root(strategy.collective)) text += fmt::format(" of rank {}", strategy.root);
  if (strategy.out_of_place) text += ", out of place";
  if (strategy.shards > 1) text += fmt::format(", {} shards", strategy.shards);
  if (strategy.channels)
    text += fmt::format(", {} channel{}", *strategy.channels, *strategy.channels == 1 ? "" : "s");
  if (strategy.bytes_per_pack) {
    text += strategy.bytes_per_pack->count() == 0
                ? ", one pack"
                : ", bytes_per_pack " + size(*strategy.bytes_per_pack, "");
  }
  if (strategy.chunks_by_count > 0)
    text += fmt::format(", {} chunks with equal numbers of gradients", strategy.chunks_by_count);
  if (strategy.num_packs > 0) text += fmt::format(", num_packs {}", strategy.num_packs);
  if (strategy.agg_small_grads_max_bytes.count() > 0) {
    text += fmt::format(", gradients up to {} packed together",
                        size(strategy.agg_small_grads_max_bytes, " bytes"));
    // Without agg_small_grads_exact_group, a pack has up to two gradients more (aggregate_small.h).
    const bool exact = strategy.agg_small_grads_exact_group;
    const int group = strategy.agg_small_grads_max_group;
    if (exact || group != Strategy().agg_small_grads_max_group)
      text += fmt::format(", at most {} small gradients per pack", exact ? group : group + 2);
  }
  if (strategy.all_reduce_merge_scope > 1)
    text += fmt::format(", merge scope {}", strategy.all_reduce_merge_scope);
  const std::string packs = strategy.framework ? strategy.framework->describe_packs() : "";
  if (!packs.empty()) text += ", packs of " + packs;
  if (strategy.pad_packs) text += ", packs padded";
  if (strategy.reduction != Reduction::kSum)
    text += fmt::format(", {}", to_string(strategy.reduction));
  const Strategy usual = Strategy::for_algorithm(strategy.algorithm);
  if (!strategy.spec && strategy.merging != usual.merging) {
    text += strategy.merging == Merging::kSeparate ? ", not merged"
            : strategy.merging == Merging::kConcat ? ", concatenated"
                                                   : ", scoped allocator";
  }
  if (strategy.launch != usual.launch)
    text += strategy.launch == Launch::kSerial ? ", serial launches" : ", concurrent launches";
  if (strategy.staging != usual.staging)
    text += strategy.staging == Staging::kDirect ? ", direct"
            : strategy.staging == Staging::kViaHost
                ? ", via host memory"
                : ", via host memory on request of the receiver";
  if (strategy.update == Update::kAfterAll) text += ", one update";
  if (strategy.timeout) text += fmt::format(", timeouts of {}", show(*strategy.timeout));
  if (traits(strategy.algorithm).in_tf_runtime) text += describe(strategy.tf_runtime);
  if (strategy.compression) {
    text += fmt::format(", {} sent as {}", strategy.compression->of_packs ? "packs" : "gradients",
                        to_string(strategy.compression->type));
  }
  return text;
}

std::vector<std::string> names_of(const Workload& workload, const Pack& pack) {
  if (pack.payload.on_read >= 0) return {workload.on_read[pack.payload.on_read].name};
  if (!pack.payload.name.empty()) return {pack.payload.name};
  std::vector<std::string> names;
  for (const Member& member : pack.payload.members) {
    const Variable& gradient = workload.gradients[member.variable];
    names.push_back(gradient.name);
    if (pack.payload.content == PackContent::kIndices) names.back() += " (indices)";
    if (pack.payload.content == PackContent::kLengths) names.back() += " (how many rows)";
  }
  return names;
}

RunInfo run_info(const Scenario& scenario, const std::string& executor) {
  RunInfo info;
  info.scenario = scenario.name;
  info.scenario_file = scenario.file;
  info.scenario_text = scenario.text;
  info.version = std::string(version());
  info.executor = executor;
  info.network_model = std::string(to_string(scenario.run.network_model));
  info.seed = scenario.run.seed;
  info.steps = scenario.run.steps;
  info.cluster = describe(*scenario.cluster);
  info.workload = scenario.workload.name;
  info.strategy = describe(scenario.strategy);
  info.timing = scenario.workload.timing;
  info.replicas = scenario.cluster->replicas();
  info.gradient_bytes = scenario.workload.bytes();
  // The bounds hold for an all-reduce over all replicas, after which each replica updates its own
  // copy of the variables.
  if (has_bounds(scenario.workload, scenario.strategy, scenario.plan)) {
    const Workload sent = as_sent(scenario.workload, scenario.strategy.compression);
    const bool adds = executor == "simulated" && network_adds(scenario.plan);
    const Bound communication =
        all_reduce_bound(*scenario.cluster, sent.bytes(), scenario.run.network_model, adds);
    info.communication_bound = communication.time;
    info.bound_reason = communication.reason;
    info.step_bound = step_bound(*scenario.cluster, sent, scenario.run.compute_jitter_ppm,
                                 scenario.run.network_model, adds)
                          .time;
  }
  info.notes = scenario.plan.notes.texts();
  const bool simulated = executor == "simulated";
  if (simulated) {
    for (std::string& note : nccl_notes(scenario)) info.notes.push_back(std::move(note));
    // In the network model `ideal`, hosts do not delay messages.
    const auto& network = scenario.cluster->network();
    if (network && network->host && scenario.run.network_model != NetworkModel::kIdeal)
      info.notes.push_back("host transport over TCP: " + describe(*network->host));
  }
  for (const Pack& pack : scenario.plan.packs) {
    RunInfo::PackInfo& entry = info.packs.emplace_back();
    entry.gradients = names_of(scenario.workload, pack);
    entry.bytes = scenario.plan.collective(pack).bytes();
    entry.type = std::string(to_string(scenario.plan.collective(pack).type));
    // NCCL's choice and time for a single pack do not apply if packs are fused.
    if (!simulated || scenario.plan.fuses()) continue;
    entry.nccl = describe_nccl(scenario.plan.collective(pack));
    entry.capped_at = capped_at(scenario.plan.collective(pack));
    // A collective with several parts has no error band: each NCCL part has its own band, and
    // messages between parts have none.
    if (const auto& nccl = scenario.plan.collective(pack).nccl) {
      entry.band_low = nccl->band.low;
      entry.band_high = nccl->band.high;
    }
  }
  for (const BackwardSegment& segment : scenario.workload.segments)
    info.layers.push_back(segment.layer);
  return info;
}

namespace {

// The texts of the notes that say what was recorded. The texts of the notes are used for writing
// and for reading, because the window reads from the notes which part of a run was recorded.
constexpr std::string_view kOnlySpans = "recorded only the spans ";
constexpr std::string_view kOnlySomeFromStep = "recorded only some of the spans of step ";
constexpr std::string_view kFrom = "from ", kTo = " to ", kUpTo = "up to ";
/// Earlier versions of Tutti wrote the same notes with these texts. Their times are rounded.
constexpr std::string_view kOnlySpansBefore = "recorded spans: only ";
constexpr std::array<std::string_view, 5> kRecordingNotes{
    "recorded only ", "recorded spans: ", "the number of recorded spans was limited to ", "spans ",
    "not all spans "};

/// Formats a time in milliseconds with all its digits.
std::string exact(Time time) { return fmt::format("{} ms", to_ms(time)); }

/// If the text begins with `begin`, returns the rest; otherwise nullopt.
std::optional<std::string_view> after(std::string_view text, std::string_view begin) {
  if (!text.starts_with(begin)) return std::nullopt;
  return text.substr(begin.size());
}

/// Returns the time with which the text begins; kNever if there is none.
Time leading_time(std::string_view text) {
  constexpr std::array<std::pair<std::string_view, double>, 5> kUnits{
      {{" ps", 1}, {" ns", 1e3}, {" µs", 1e6}, {" ms", 1e9}, {" s", 1e12}}};
  double number = 0;
  const auto [rest, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc()) return kNever;
  text.remove_prefix(rest - text.data());
  for (const auto& [unit, picoseconds] : kUnits) {
    const double time = number * picoseconds;
    if (text.starts_with(unit) && time >= 0 && time < 9e18) return Time(std::llround(time));
  }
  return kNever;
}

}  // namespace

std::vector<std::string> recording_notes(const RecordOptions& record, const Cluster& cluster) {
  std::vector<std::string> notes;
  if (record.level == RecordLevel::kNone) return notes;
  const std::int64_t last = std::min(record.last_worker, cluster.workers() - 1);
  if (record.first_worker > 0 || last + 1 < cluster.workers())
    notes.push_back(fmt::format("{}of workers {} to {} (of {} workers)", kOnlySpans,
                                record.first_worker, last, cluster.workers()));
  if (record.from > Time() || record.to < kNever) {
    notes.push_back(
        fmt::format("{}{}{}{}", kOnlySpans, kFrom, exact(record.from),
                    record.to < kNever ? fmt::format("{}{}", kTo, exact(record.to)) : " on"));
  }
  return notes;
}

std::string limit_note(Time last, std::int64_t most_spans) {
  return fmt::format("{}{}{}, because at most {} spans are recorded", kOnlySpans, kUpTo,
                     exact(last), most_spans);
}

std::string limit_note_of_step(std::int32_t step, std::int64_t most_spans) {
  return fmt::format("{}{} and later steps, because at most {} spans are recorded",
                     kOnlySomeFromStep, step, most_spans);
}

bool is_recording_note(std::string_view note) {
  return std::any_of(kRecordingNotes.begin(), kRecordingNotes.end(),
                     [&](std::string_view begin) { return note.starts_with(begin); });
}

std::optional<RecordedPart> recorded_part(const std::vector<std::string>& notes,
                                          const std::vector<StepRecord>& steps) {
  RecordedPart part;
  for (const std::string& note : notes) {
    if (const auto step = after(note, kOnlySomeFromStep)) {
      const auto first = std::find_if(steps.begin(), steps.end(), [&](const StepRecord& s) {
        const std::string number = std::to_string(s.step);
        return step->starts_with(number + ' ');
      });
      if (first != steps.end()) part.to = std::min(part.to, first->start);
      continue;
    }
    auto range = after(note, kOnlySpans);
    if (!range) range = after(note, kOnlySpansBefore);
    if (!range) continue;
    if (const auto to = after(*range, kUpTo)) part.to = std::min(part.to, leading_time(*to));
    const auto from = after(*range, kFrom);
    if (!from) continue;
    const Time start = leading_time(*from);
    if (start < kNever) part.from = std::max(part.from, start);
    if (const std::size_t to = from->find(kTo); to != std::string_view::npos)
      part.to = std::min(part.to, leading_time(from->substr(to + kTo.size())));
  }
  if (part.from == Time() && part.to == kNever) return std::nullopt;
  return part;
}

}  // namespace tutti::core
