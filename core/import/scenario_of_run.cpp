// Writes a scenario as text that the user can edit. Comments in the text state where the parameters
// come from.

#include "core/import/scenario_of_run.h"

#include <algorithm>
#include <array>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/data_type.h"
#include "core/base/format.h"
#include "core/text/in_quotes.h"

namespace tutti::core {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

std::string ms(std::int64_t ns) { return fmt::format("{:.6f}", static_cast<double>(ns) / 1e6); }

std::string schema_type(const std::string& name) {
  const auto type = parse_data_type(name);
  if (!type) return "";
  std::string upper(to_string(*type));
  for (char& c : upper) c = static_cast<char>(c >= 'a' && c <= 'z' ? c - 32 : c);
  return upper;
}

class ScenarioWriter {
 public:
  ScenarioWriter(const MeasuredRun& run, const StepModel& model, const ScenarioFacts& facts)
      : run_(run), facts_(facts), model_(model) {}

  Expected<ScenarioOfRun> write(const std::string& name) {
    if (model_.steps == 0)
      return tl::make_unexpected(
          Error::request({ProblemCode::kMissing},
                         fmt::format("{} has no training steps, which a scenario needs; write "
                                     "measurements (-o NAME.log) or a timeline (-o NAME.tutti)",
                                     run_.format)));
    const bool has_parts =
        std::any_of(run_.ranks.begin(), run_.ranks.end(), [](const MeasuredRank& rank) {
          return !rank.compute.empty() || !rank.collectives.empty();
        });
    if (!has_parts)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kMissing},
          fmt::format(
              "{} has the times of whole steps only, from which no workload can be derived; "
              "compare a prediction with it instead (tutti compare predicted.tutti FILE)",
              run_.format)));
    const std::string cluster = cluster_text();
    if (!problems_.empty()) return problems_.take();
    std::string text = fmt::format(
        "# Written by tutti import from {}, of {}: {} steps of {} ranks.\n", run_.format,
        run_.files.empty() ? "a trace" : fmt::format("{}", fmt::join(first_files(), ", ")),
        model_.steps, run_.ranks.size());
    text += fmt::format(
        "# Measured step time: {} ms; forward pass {}, backward pass {} until the last gradient.\n",
        ms(model_.step_ns), ms(model_.forward_ns), ms(model_.backward_ns));
    text += fmt::format("name: {}\n\n", in_quotes(name));
    text += cluster + '\n' + workload_text() + '\n' + strategy_text();
    text +=
        "\nrun {\n  steps: 3\n  # The measured layer times already include the slowdown by "
        "communication.\n"
        "  interference: OFF\n}\n";
    text += late_text();
    text += communicators_text();
    made_.text = std::move(text);
    return std::move(made_);
  }

 private:
  [[nodiscard]] std::vector<std::string> first_files() const {
    std::vector<std::string> files;
    for (const std::string& file : run_.files) {
      if (files.size() == 3) {
        files.emplace_back("…");
        break;
      }
      const std::size_t slash = file.rfind('/');
      files.push_back(slash == std::string::npos ? file : file.substr(slash + 1));
    }
    for (std::string& file : files) std::replace(file.begin(), file.end(), '\n', ' ');
    return files;
  }

  // -----------------------------------------------------------------------------------------
  // cluster

  std::string cluster_text() {
    const std::int64_t world =
        std::max<std::int64_t>(run_.world_size, static_cast<std::int64_t>(run_.ranks.size()));
    std::string machine = facts_.machine;
    const std::int64_t per_host = run_.gpus_per_host;
    if (machine.empty()) {
      machine = machine_with_gpu(run_.gpu, per_host);
      if (!machine.empty())
        made_.notes.push_back(
            fmt::format("the machine is assumed to be {}, because it has the GPUs of the trace "
                        "({}); use --machine to name another machine",
                        machine, run_.gpu));
    }
    if (machine.empty())
      problems_.add(
          {ProblemCode::kMissing, "--machine"}, {},
          "--machine: the trace {}{}; name a similar shipped machine (tutti init --list), or a "
          "file that describes your machine (docs/formats.md)",
          run_.gpu.empty() ? "does not name its GPUs" : "has GPUs that no shipped machine has: ",
          run_.gpu);
    std::int64_t nodes = facts_.nodes.value_or(0);
    if (nodes == 0 && per_host > 0)
      nodes = per_host >= world ? 1 : (per_host > 1 ? (world + per_host - 1) / per_host : 0);
    if (nodes == 0 && world == 1) nodes = 1;
    if (nodes == 0) {
      problems_.add(
          {ProblemCode::kMissing, "--nodes"}, {},
          "--nodes: the trace has {} ranks, but does not state the number of machines; set --nodes",
          world);
      return "";
    }
    if (world % nodes != 0) {
      problems_.add({ProblemCode::kConflict, "--nodes"}, {},
                    "--nodes {}: {} ranks cannot be divided evenly among these machines", nodes,
                    world);
      return "";
    }
    if (nodes > 1 && facts_.link.empty())
      problems_.add({ProblemCode::kMissing, "--link"}, {},
                    "--link: the trace does not describe the network between the {} machines; name "
                    "the kind of link (tutti init --list), such as ndr",
                    nodes);
    std::string text = "cluster {\n";
    text += fmt::format("  workers {{ machine: {} count: {} replicas: {} }}\n", in_quotes(machine),
                        nodes, world / nodes);
    if (nodes > 1)
      text += fmt::format("  network {{ kind: ONE_SWITCH link: {} }}\n", in_quotes(facts_.link));
    if (!facts_.calibration.empty())
      text += fmt::format("  nccl_calibration: {}\n", in_quotes(facts_.calibration));
    replicas_per_node_ = world / nodes;
    return text + "}\n";
  }

  /// Writes the gaps of a rank whose trace was not read. Any other rank than the measured one may
  /// be the late rank; the next one is chosen.
  std::string late_text() {
    if (facts_.late.empty()) return "";
    const std::int64_t world =
        std::max<std::int64_t>(run_.world_size, static_cast<std::int64_t>(run_.ranks.size()));
    const std::int64_t measured = run_.ranks.front().rank, rank = (measured + 1) % world;
    std::int64_t wait = 0;
    for (const LateLayer& late : facts_.late) wait += late.wait_ns;
    made_.notes.push_back(fmt::format(
        "rank {} waits {} per step in its collectives for another rank, whose trace was not "
        "given. In the scenario, the host of rank {} is late (conditions.late_host); give the "
        "traces of all ranks to find the late rank",
        measured, show(nanoseconds(wait)), rank));
    std::string text = fmt::format(
        "\n# Rank {} waits in {} of {} packs for a rank whose trace was not given.\n# Rank {} "
        "stands for this rank.\nconditions {{\n",
        measured, facts_.late.size(), model_.packs.size(), rank);
    for (const LateLayer& late : facts_.late)
      text += fmt::format("  late_host {{ worker: {} device: \"gpu{}\" before: {} ms: {} }}\n",
                          rank / replicas_per_node_, rank % replicas_per_node_,
                          in_quotes(late.before), ms(late.gap_ns));
    return text + "}\n";
  }

  // ----------------------------------------------------------------------------------------
  // workload

  std::string workload_text() {
    std::string text = "workload {\n";
    if (model_.gradients.empty()) {
      made_.notes.emplace_back(
          "no gradients were found, so the scenario has the measured times of computation, but no "
          "communication");
      text += "  # The trace has no gradients, so a single variable represents the model.\n";
      text +=
          fmt::format("  variable {{ name: \"model\" shape: 1 forward_ms: {} backward_ms: {} }}\n",
                      ms(model_.forward_ns), ms(model_.backward_ns));
      return text + forward_gap_text() + fmt::format("  update_ms: {}\n}}\n", ms(model_.update_ns));
    }
    std::int64_t backward = 0;
    for (const StepModel::Layer& layer : model_.layers) backward += layer.backward_ns;
    text +=
        "  # Variables are listed in reverse order of their gradients.\n"
        "  # backward_ms is the time since the previous gradient.\n"
        "  # The forward pass was measured as a whole and is divided in the same ratio.\n";
    std::map<std::string, std::int64_t> other_types;
    std::vector<std::string> lines;
    std::int32_t before = -1;
    std::int64_t gaps = 0;
    for (const StepModel::Gradient& g : model_.gradients) {
      // In the scenario, the whole time of a layer is assigned to the gradient of the layer that
      // becomes ready first. All other gradients of the layer get a time of 0.
      const std::int64_t own = g.layer == before ? 0 : model_.layers[g.layer].backward_ns;
      const std::int64_t gap = g.layer == before ? 0 : model_.layers[g.layer].gap_ns;
      gaps += gap;
      before = g.layer;
      const double share = backward > 0 ? static_cast<double>(own) / static_cast<double>(backward)
                                        : 1.0 / static_cast<double>(model_.gradients.size());
      std::string type = schema_type(g.type.name);
      std::vector<std::int64_t> shape = g.shape;
      if (type.empty()) {
        ++other_types[g.type.name];
        type = "FLOAT32";
        if (g.type.bytes > 0) {
          type = "FLOAT16";
          shape = {std::max<std::int64_t>(1, g.elements * g.type.bytes / 2)};
        }
      }
      lines.push_back(fmt::format(
          "  variable {{ name: {} {}data_type: {} forward_ms: {} backward_ms: {}{} }}\n",
          in_quotes(g.name),
          shape.empty() ? "" : fmt::format("shape: [{}] ", fmt::join(shape, ", ")), type,
          ms(static_cast<std::int64_t>(share * static_cast<double>(model_.forward_ns))), ms(own),
          gap > 0 ? fmt::format(" gap_ms: {}", ms(gap)) : ""));
    }
    for (const auto& [type, number] : other_types)
      made_.notes.push_back(
          type.empty()
              ? fmt::format("{} gradients have no type in the trace; assumed: float32", number)
              : fmt::format(
                    "{} gradients of type {} are written as float16 with the same number of bytes",
                    number, type));
    if (gaps > 0)
      text +=
          "  # gap_ms is the part of a layer's time in which the GPU idles, because the host has "
          "not\n  # launched the next kernel.\n";
    for (auto line = lines.rbegin(); line != lines.rend(); ++line) text += *line;
    return text + forward_gap_text() +
           fmt::format(
               "  # Measured time of the optimizer after the last pack.\n  update_ms: {}\n}}\n",
               ms(model_.update_ns));
  }

  [[nodiscard]] std::string forward_gap_text() const {
    if (model_.forward_gap_ns <= 0) return "";
    return fmt::format(
        "  # The GPU idles between the last pack of a step and the next backward pass.\n"
        "  forward_gap_ms: {}\n",
        ms(model_.forward_gap_ns));
  }

  // ----------------------------------------------------------------------------------------
  // strategy

  std::string strategy_text() {
    std::string text = "strategy {\n  algorithm: \"nccl\"\n";
    if (run_.framework == "Horovod")
      text += horovod_text();
    else if (run_.framework == "TensorFlow" || run_.framework == "JAX")
      text += fmt::format(
          "  # Measured: {} all-reduces a step. The profile does not name the gradients in an "
          "all-reduce, so each all-reduce becomes one variable.\n  bytes_per_pack: 1\n",
          model_.packs.size());
    else if (!model_.packs.empty())
      text += packs_text();
    // On a single GPU, no collective uses NCCL.
    if (!run_.nccl_version.empty() && (run_.world_size > 1 || run_.ranks.size() > 1)) {
      if (run_.is_rocm) {
        made_.notes.push_back(fmt::format(
            "the trace is from RCCL, which reports itself as NCCL {}; Tutti models RCCL as NCCL",
            run_.nccl_version));
      } else {
        text += fmt::format("  nccl {{ version: {} }}\n", in_quotes(run_.nccl_version));
      }
    }
    return text + "}\n";
  }

  /// Writes the settings of Horovod. The cycle time is the only setting that a timeline shows,
  /// because Horovod decides at run time which tensors to fuse.
  [[nodiscard]] std::string horovod_text() const {
    std::string text = fmt::format(
        "  # Measured: {} packs a step. Horovod fuses the gradients that are ready in each "
        "cycle.\n  horovod {{",
        model_.packs.size());
    if (run_.cycle_us > 0)
      text += fmt::format(" cycle_time_ms: {:.3f}", static_cast<double>(run_.cycle_us) / 1e3);
    return text + " }\n";
  }

  std::string packs_text() {
    const std::optional<BucketLimits> known = limits_of_packs(model_);
    const BucketLimits limits = known.value_or(BucketLimits());
    std::string text = fmt::format("  # Measured: {} packs a step.\n", model_.packs.size());
    if (!known) {
      made_.notes.emplace_back(
          "no bucket sizes of PyTorch DDP produce exactly the packs of the trace; the scenario "
          "uses DDP's default sizes, which produce different packs");
      return text + "  pytorch_ddp { gradient_as_bucket_view: true }\n";
    }
    text += "  # The measured times include copies into and out of buckets.\n  pytorch_ddp { ";
    const bool usual = limits.bytes == 25 * kMiB && limits.first_bytes == kMiB;
    if (!usual)
      text += fmt::format(
          "bucket_cap_mb: {} first_bucket_bytes: {} ",
          fmt::format("{:.9g}", static_cast<double>(limits.bytes) / static_cast<double>(kMiB)),
          limits.first_bytes);
    return text + "gradient_as_bucket_view: true }\n";
  }

  // ---------------------------------------------------------------------------------------
  // exchanges

  [[nodiscard]] static std::string schema_collective(MeasuredKind kind) {
    switch (kind) {
      case MeasuredKind::kAllReduce: return "ALL_REDUCE";
      case MeasuredKind::kReduceScatter: return "REDUCE_SCATTER";
      case MeasuredKind::kAllGather: return "ALL_GATHER";
      case MeasuredKind::kBroadcast: return "BROADCAST";
      case MeasuredKind::kReduce: return "REDUCE";
      case MeasuredKind::kAllToAll: return "ALL_TO_ALL";
      default: return "";
    }
  }

  /// Returns the distance between consecutive ranks of the group; 0 if the distances differ or are
  /// unknown.
  [[nodiscard]] std::int64_t stride_of(const MeasuredGroup& group, std::int64_t world) const {
    if (group.size == world) return 1;
    if (group.ranks.size() < 2) return 0;
    const std::int64_t stride = group.ranks[1] - group.ranks[0];
    for (std::size_t i = 1; i < group.ranks.size(); ++i) {
      if (group.ranks[i] - group.ranks[i - 1] != stride) return 0;
    }
    return stride > 0 ? stride : 0;
  }

  std::string communicators_text() {
    const std::int64_t world =
        std::max<std::int64_t>(run_.world_size, static_cast<std::int64_t>(run_.ranks.size()));
    // If ranks execute all-gathers and reduce-scatters but no gradient all-reduces, each rank holds
    // a part of the model (FSDP).
    bool gathers = false, scatters = false;
    for (const StepModel::Exchange& e : model_.exchanges) {
      gathers = gathers || e.kind == MeasuredKind::kAllGather;
      scatters = scatters || e.kind == MeasuredKind::kReduceScatter;
    }
    const bool sharded = model_.packs.empty() && gathers && scatters;
    std::map<std::int32_t, std::vector<const StepModel::Exchange*>> by_group;
    std::int64_t left_out = 0;
    for (const StepModel::Exchange& e : model_.exchanges) {
      if (schema_collective(e.kind).empty())
        ++left_out;
      else
        by_group[e.group].push_back(&e);
    }
    std::string text;
    bool split = false;
    std::map<std::string, int> names;
    for (const auto& [index, exchanges] : by_group) {
      MeasuredGroup group;
      if (index >= 0) group = run_.groups[index];
      if (group.size < 0)
        group.size = index < 0 ? world : static_cast<std::int64_t>(group.ranks.size());
      const std::int64_t stride = stride_of(group, world);
      if (group.size < 2 || stride == 0 || world % (group.size * stride) != 0) {
        left_out += static_cast<std::int64_t>(exchanges.size());
        continue;
      }
      const bool own =
          sharded && !split && std::any_of(exchanges.begin(), exchanges.end(), [](const auto* e) {
            return e->kind == MeasuredKind::kReduceScatter;
          });
      split = split || own;
      std::string name = group.description.empty() || group.description == "undefined"
                             ? group.name
                             : group.description;
      if (name.empty()) name = "world";
      if (const int number = names[name]++; number > 0) name += fmt::format("_{}", number);
      text +=
          fmt::format("\ncommunicator {{\n  name: {}\n  size: {}\n", in_quotes(name), group.size);
      if (stride != 1) text += fmt::format("  stride: {}\n", stride);
      if (own)
        text +=
            "  # Parameters are gathered and gradients are scattered, because each rank stores "
            "only a part of the model.\n"
            "  splits_model: true\n";
      for (const StepModel::Exchange* e : exchanges) text += exchange_text(*e);
      text += "}\n";
    }
    if (left_out > 0)
      made_.notes.push_back(
          fmt::format("the scenario omits {} kinds of communication of the trace, which are sends "
                      "and receives, or collectives of groups that do not divide the ranks evenly",
                      left_out));
    return text;
  }

  std::string exchange_text(const StepModel::Exchange& e) {
    std::string type = schema_type(e.type.name);
    std::int64_t bytes = e.bytes;
    if (type.empty()) type = "FLOAT16", bytes += bytes % 2;
    std::string text = fmt::format("  exchange {{ collective: {} bytes: {} type: {}",
                                   schema_collective(e.kind), bytes, type);
    if (e.per_forward > 0) text += fmt::format(" per_forward: {}", e.per_forward);
    if (e.per_backward > 0) text += fmt::format(" per_backward: {}", e.per_backward);
    return text + (e.overlaps ? " overlaps: true }\n" : " }\n");
  }

  const MeasuredRun& run_;
  const ScenarioFacts& facts_;
  const StepModel& model_;
  std::int64_t replicas_per_node_ = 1;
  Problems problems_;
  ScenarioOfRun made_;
};

}  // namespace

Expected<ScenarioOfRun> scenario_of_run(const MeasuredRun& run, const StepModel& model,
                                        const std::string& name, const ScenarioFacts& facts) {
  return ScenarioWriter(run, model, facts).write(name);
}

std::optional<BucketLimits> bucket_limits(const std::vector<std::int64_t>& gradient_bytes,
                                          const std::vector<std::size_t>& buckets) {
  if (buckets.empty()) return std::nullopt;
  // A bucket is closed by the gradient with which its size reaches the limit. The limit is
  // therefore above the bucket's size without its last gradient, and at most the bucket's whole
  // size. The last bucket need not reach the limit.
  std::int64_t first_low = 0, first_high = std::int64_t{1} << 50, low = 0, high = first_high;
  std::size_t g = 0;
  for (std::size_t b = 0; b < buckets.size(); ++b) {
    std::int64_t held = 0, before = 0;
    for (std::size_t i = 0; i < buckets[b]; ++i) {
      if (g >= gradient_bytes.size() || gradient_bytes[g] < 0) return std::nullopt;
      before = held;
      held += gradient_bytes[g++];
    }
    const bool closed = b + 1 < buckets.size() || g < gradient_bytes.size();
    std::int64_t& least = b == 0 ? first_low : low;
    std::int64_t& most = b == 0 ? first_high : high;
    least = std::max(least, before + 1);
    if (buckets[b] == 1 && before == 0) least = std::max<std::int64_t>(least, 0);
    if (closed) most = std::min(most, held);
  }
  if (first_low > first_high || low > high) return std::nullopt;
  const auto nearest = [](std::int64_t wanted, std::int64_t least, std::int64_t most) {
    return std::clamp(wanted, least, most);
  };
  return BucketLimits{nearest(kMiB, first_low, first_high), nearest(25 * kMiB, low, high)};
}

std::optional<BucketLimits> limits_of_packs(const StepModel& model) {
  std::vector<std::int64_t> bytes;
  for (const StepModel::Gradient& g : model.gradients)
    bytes.push_back(g.elements * std::max<std::int64_t>(g.type.bytes, g.type.name.empty() ? 4 : 1));
  std::vector<std::size_t> buckets;
  std::int32_t next = 0;
  for (const StepModel::Pack& pack : model.packs) {
    buckets.push_back(pack.gradients.size());
    for (const std::int32_t g : pack.gradients) {
      if (g != next++) return std::nullopt;  // DDP reduces gradients in order
    }
  }
  return bucket_limits(bytes, buckets);
}

std::string machine_with_gpu(const std::string& gpu, std::int64_t gpus_per_host) {
  struct Known {
    const char* part;
    const char* machine;
  };
  // Longer names come first, because a longer name may contain a shorter one.
  constexpr std::array<Known, 15> kMachines{{{"GB200", "gb200-nvl72"},
                                             {"B200", "dgx-b200"},
                                             {"H200", "hgx-h200"},
                                             {"H100", "hgx-h100"},
                                             {"H800", "hgx-h100"},
                                             {"A100-PCIE", "pcie4-a100"},
                                             {"A100 80GB PCIe", "pcie4-a100"},
                                             {"A100", "dgx-a100"},
                                             {"V100-SXM3", "dgx2"},
                                             {"V100-PCIE", "pcie8-v100"},
                                             {"V100", "dgx1-v100"},
                                             {"P100", "dgx1-p100"},
                                             {"L40S", "pcie-l40s"},
                                             {"T4", "ec2-g4dn-12xlarge"},
                                             {"K80", "ec2-p2-16xlarge"}}};
  for (const Known& known : kMachines) {
    if (gpu.find(known.part) == std::string::npos) continue;
    if (std::string(known.part) == "T4" && gpus_per_host > 4) return "ec2-g4dn-metal";
    return known.machine;
  }
  return "";
}

}  // namespace tutti::core
