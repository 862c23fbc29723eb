#include "core/advice/extrapolation.h"

#include <algorithm>
#include <cctype>
#include <optional>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/calibrate/cluster_figures.h"
#include "core/proto/scenario.pb.h"
#include "core/strategy/algorithm_table.h"
#include "core/strategy/collective_parts.h"
#include "core/workload/layer_times.h"

namespace tutti::core {
namespace {

/// If the batch size differs from the measured one by more than this factor, scaled times are
/// reported as an extrapolation.
constexpr double kFarOff = 2;

bool is_of(const Machine& machine, GpuModel model) {
  return std::any_of(machine.parts().begin(), machine.parts().end(),
                     [&](const Part& part) { return part.gpu_model == model; });
}

void add_layer_times(const Scenario& scenario, const proto::Scenario& message,
                     std::vector<std::string>& notes) {
  for (const Library::File& file : scenario.files) {
    if (file.kind != Library::Kind::kLayerTimes) continue;
    const auto times = read_layer_times(file.text, file.path);
    if (!times) continue;
    const std::int64_t batch =
        message.workload().has_batch() ? message.workload().batch() : times->batch;
    const double ratio = static_cast<double>(batch) / static_cast<double>(times->batch);
    if (ratio > kFarOff || ratio < 1 / kFarOff) {
      notes.push_back(fmt::format(
          "extrapolated: layer times were measured at batch size {} and are scaled to batch size "
          "{}, although a part of these times does not depend on the batch size",
          times->batch, batch));
    }
    if (times->gpu_model == GpuModel::kNone) continue;
    std::int64_t seen = 0;
    for (const WorkerGroup& group : scenario.cluster->groups()) {
      // Stop at the parameter servers, which come last in the list of workers. Parameter servers do
      // not compute the model.
      if (seen >= scenario.cluster->workers() - scenario.cluster->servers()) break;
      seen += group.count;
      if (is_of(*group.machine, times->gpu_model)) continue;
      notes.push_back(fmt::format(
          "extrapolated: layer times were measured on {}, but the GPUs of the cluster are {}",
          to_string(times->gpu_model), group.machine->name()));
    }
  }
}

/// Adds a note if the scenario states a batch size or an efficiency, but computation takes no time
/// because the model states neither FLOPs nor times.
void add_missing_computation(const Scenario& scenario, const proto::Scenario& message,
                             std::vector<std::string>& notes) {
  const proto::Workload& written = message.workload();
  if (!written.has_batch() && !written.has_flops_efficiency()) return;
  const bool takes_time = std::any_of(
      scenario.workload.times.begin(), scenario.workload.times.end(), [](const StepTimes& times) {
        return times.forward > Time() || std::any_of(times.backward.begin(), times.backward.end(),
                                                     [](Time segment) { return segment > Time(); });
      });
  if (takes_time) return;
  notes.emplace_back(
      "computation takes no time, because the model states neither FLOPs nor times; set forward_ms "
      "and backward_ms, or add forward_flops and backward_flops to the model");
}

/// If a precision is stated that changes no times, says so. If the layers are computed in float32
/// by default, although the GPUs have a rate for TF32, notes that most training programs use tensor
/// cores.
void add_precision(const Scenario& scenario, const proto::Scenario& message,
                   std::vector<std::string>& notes) {
  if (message.workload().has_precision()) {
    if (!scenario.workload.precision)
      notes.emplace_back(
          "workload.precision does not change the times of layers, because these times are not "
          "computed from FLOPs");
    return;
  }
  if (scenario.workload.precision != Precision::kFloat32) return;
  for (const WorkerGroup& group : scenario.cluster->groups()) {
    const Machine& machine = *group.machine;
    if (machine.gpus().empty()) continue;
    const auto& rates = machine.parts()[machine.gpus().front()].device.flops_per_second;
    const auto tf32 = rates.find(Precision::kTf32);
    if (tf32 == rates.end()) continue;
    notes.push_back(fmt::format(
        "layers are computed in float32 without tensor cores; on {}, TensorFlow and the "
        "convolutions of PyTorch use TF32 ({:g} TFLOP/s), and mixed precision is faster still: set "
        "workload.precision to TF32, FLOAT16 or BFLOAT16",
        machine.name(), tf32->second / 1e12));
    return;
  }
}

/// Notes if the variables, their gradients and the momentum do not fit into the memory of a GPU.
/// Programs that reduce and scatter gradients distribute all three, DeepSpeed (ZeRO) distributes
/// momentum and gradients, and Megatron can distribute the momentum.
void add_capacity(const Scenario& scenario, const proto::Scenario& message,
                  std::vector<std::string>& notes) {
  const bool whole = !message.strategy().has_collective() ||
                     message.strategy().collective() == proto::Strategy::ALL_REDUCE;
  if (!whole || scenario.strategy.servers || message.workload().has_execution_trace()) return;
  const bool gradients = !message.strategy().has_deepspeed();
  const bool momentum =
      gradients && !message.strategy().has_megatron() && !message.workload().has_update_ms();
  Bytes needed;
  for (const Variable& variable : scenario.workload.gradients) {
    const int copies = 1 + (gradients && !variable.slices ? 1 : 0) + (momentum ? 1 : 0);
    needed += Bytes(copies * variable.bytes().count());
  }
  for (const WorkerGroup& group : scenario.cluster->groups()) {
    const Machine& machine = *group.machine;
    if (machine.gpus().empty()) continue;
    const Part& gpu = machine.parts()[machine.gpus().front()];
    if (gpu.device.memory_gb == 0) continue;
    if (static_cast<double>(needed.count()) <= gpu.device.memory_gb * 1e9) continue;
    notes.push_back(fmt::format(
        "the model does not fit into GPU memory: {} take {:.3g} GB of each GPU, without "
        "activations, but {} of {} has only {:g} GB; a real program must distribute the model over "
        "several GPUs (collective: REDUCE_SCATTER for ZeRO and FSDP, or a communicator with "
        "splits_model)",
        momentum    ? "variables, gradients and momentum"
        : gradients ? "variables and gradients"
                    : "variables",
        static_cast<double>(needed.count()) / 1e9, gpu.name, machine.name(), gpu.device.memory_gb));
    return;
  }
}

/// Returns the range of measurements to which the cluster's parameters were fitted. The scenario or
/// the cluster's file may state it; returns nullopt if neither does.
std::optional<proto::Calibrated> calibrated_of(const Scenario& scenario,
                                               const proto::Scenario& message) {
  if (message.cluster().has_calibrated()) return message.cluster().calibrated();
  for (const Library::File& file : scenario.files) {
    if (file.kind != Library::Kind::kCluster) continue;
    const auto cluster = scenario_message("cluster {\n" + file.text + "\n}", file.path);
    if (cluster && (*cluster)->cluster().has_calibrated())
      return (*cluster)->cluster().calibrated();
  }
  return std::nullopt;
}

/// Formats the numbers and the range of sizes of some packs: "packs 0, 3 and 7 of 128 MB", "packs 0
/// to 4 of 4.00 KB to 9.10 KB".
/// REQUIRES: not empty; in ascending order.
std::string packs_in_words(const std::vector<std::size_t>& numbers, const Plan& plan) {
  constexpr std::size_t kMaxNamed = 6;
  Bytes least = plan.collective(plan.packs[numbers.front()]).bytes(), most = least;
  for (const std::size_t pack : numbers) {
    least = std::min(least, plan.collective(plan.packs[pack]).bytes());
    most = std::max(most, plan.collective(plan.packs[pack]).bytes());
  }
  std::string text;
  if (numbers.size() == 1) {
    text = fmt::format("pack {}", numbers.front());
  } else if (numbers.size() > 2 && numbers.back() - numbers.front() + 1 == numbers.size()) {
    text = fmt::format("packs {} to {}", numbers.front(), numbers.back());
  } else if (numbers.size() <= kMaxNamed) {
    text = fmt::format("packs {} and {}", fmt::join(numbers.begin(), numbers.end() - 1, ", "),
                       numbers.back());
  } else {
    text = fmt::format("{} packs ({}, …)", numbers.size(),
                       fmt::join(numbers.begin(), numbers.begin() + kMaxNamed, ", "));
  }
  return text + (least == most ? fmt::format(" of {}", show(most))
                               : fmt::format(" of {} to {}", show(least), show(most)));
}

void add_calibrated(const Scenario& scenario, const proto::Scenario& message,
                    std::vector<std::string>& notes) {
  const auto calibrated = calibrated_of(scenario, message);
  if (!calibrated) return;
  if (calibrated->has_workers() && calibrated->workers() != scenario.cluster->workers()) {
    notes.push_back(
        fmt::format("extrapolated: the cluster's parameters were fitted to runs on {} workers, but "
                    "the cluster has {}",
                    calibrated->workers(), scenario.cluster->workers()));
  }
  std::vector<std::size_t> smaller, larger;
  for (std::size_t p = 0; p < scenario.plan.packs.size(); ++p) {
    const std::int64_t bytes = scenario.plan.collective(scenario.plan.packs[p]).bytes().count();
    if (calibrated->has_least_bytes() && bytes < calibrated->least_bytes()) smaller.push_back(p);
    if (calibrated->has_most_bytes() && bytes > calibrated->most_bytes()) larger.push_back(p);
  }
  const auto add = [&](const std::vector<std::size_t>& packs, const char* how, std::int64_t than) {
    if (packs.empty()) return;
    notes.push_back(
        fmt::format("extrapolated: {} {} {} than all packs to which the cluster's parameters were "
                    "fitted (limit: {})",
                    packs_in_words(packs, scenario.plan), packs.size() == 1 ? "is" : "are", how,
                    show(Bytes(than))));
  };
  add(smaller, "smaller", calibrated->least_bytes());
  add(larger, "larger", calibrated->most_bytes());
}

}  // namespace

std::string note_on_launches(const Scenario& scenario) {
  const Cluster& cluster = *scenario.cluster;
  const bool on_gpus = cluster.part(cluster.replica(0)).kind == PartKind::kGpu;
  // The times of servers, and of clusters that were fitted to measured runs, include their
  // software.
  if (!on_gpus || scenario.strategy.requested_launch_overhead || scenario.strategy.servers ||
      is_calibrated(scenario))
    return "";
  for (const Pack& pack : scenario.plan.packs) {
    const PlannedCollective& planned = scenario.plan.planned(pack.collective);
    const Collective& collective = planned.first;
    const CollectiveParts* const parts = timed_parts(collective);
    const bool by_nccl = collective.nccl || (parts && parts->all.front().inside_workers);
    if (by_nccl || planned.launch_overhead > Time() || collective.contributors < 2) continue;
    return fmt::format(
        "{} begins on GPUs without a launch time, so the predicted times of small packs are lower "
        "bounds; to add a launch time, set strategy.launch_us, or state the model of the GPUs in "
        "the machine (gpu_model or nearest_gpu_model)",
        scenario.strategy.custom ? scenario.strategy.custom->file
                                 : to_string(strategy_of(scenario.strategy, pack).algorithm));
  }
  return "";
}

bool is_calibrated(const Scenario& scenario) {
  const auto message = scenario_message(scenario.text, scenario.file);
  return message && calibrated_of(scenario, **message).has_value();
}

std::vector<std::string> extrapolations(const Scenario& scenario) {
  std::vector<std::string> notes;
  const auto message = scenario_message(scenario.text, scenario.file);
  if (!message) return notes;
  add_layer_times(scenario, **message, notes);
  add_missing_computation(scenario, **message, notes);
  add_precision(scenario, **message, notes);
  add_capacity(scenario, **message, notes);
  add_calibrated(scenario, **message, notes);
  if (std::string note = note_on_launches(scenario); !note.empty())
    notes.push_back(std::move(note));
  return notes;
}

}  // namespace tutti::core
