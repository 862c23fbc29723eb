// The times of a training step come from one of four sources: measured times of layers, measured
// times in the list of variables, FLOPs at a fraction of the device's peak rate, or a total that is
// divided equally. Times from FLOPs are at least the time for moving weights and activations
// (layer_traffic.h) and launching a kernel (raise_to_minimum). All sources fill the same fields of
// StepTimes. If the user gives totals, scale_to() scales the times of the layers. scale_to() rounds
// prefix sums, so that the total is exact to the picosecond. All other fields are derived from the
// times of layers. Updates and accumulation are limited by memory bandwidth (5 and 3 passes over
// the bytes). The fraction of a layer's time that is limited by multiprocessors is the time of its
// FLOPs divided by the layer's time. Segments are in the order of the backward pass, so the last
// layer comes first. Each group of workers has its own times, because groups may have different
// machines.

#include "core/workload/workload.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"
#include "core/workload/layer_traffic.h"

namespace tutti::core {

namespace {

constexpr std::int64_t kAllOfIt = 1'000'000;  // in millionths

/// The number of memory passes to accumulate gradients: two reads and one write of the sum.
constexpr std::int64_t kAccumulatePasses = 3;

/// The time between two kernels that a host launches one after the other.
/// SOURCE: A. Gray, "Getting Started with CUDA Graphs", NVIDIA, 2019: 3.8 us per kernel on a V100;
/// "Mirage Persistent Kernel", 2025: 3.8 us per kernel of PyTorch on a B200.
constexpr Time kKernelIssue = nanoseconds(3'800);

/// Converts seconds to a Time, rounded to picoseconds; too large values become the longest
/// duration.
Time seconds(double s) {
  const double ps = s * 1e12;
  return ps < static_cast<double>(kLongestDuration.count()) ? Time(std::llround(ps))
                                                            : kLongestDuration;
}

/// Scales the parts in proportion so that their sum is `total`. If all parts are 0, they become
/// equal. Prefix sums are rounded, so that the sum is exact.
void scale_to(std::vector<Time>& parts, Time total) {
  if (parts.empty()) return;
  const Time before = std::accumulate(parts.begin(), parts.end(), Time());
  if (before == Time()) {
    // The times of the layers are unknown, so each layer gets the same share of the total.
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const auto n = static_cast<std::int64_t>(parts.size());
      const auto k = static_cast<std::int64_t>(i);
      parts[i] = Time(total.count() * (k + 1) / n - total.count() * k / n);
    }
    return;
  }
  std::int64_t reached = 0;
  std::int64_t given = 0;
  for (Time& part : parts) {
    reached += part.count();
    const auto upto =
        static_cast<std::int64_t>(static_cast<Wide>(reached) * static_cast<Wide>(total.count()) /
                                  static_cast<Wide>(before.count()));
    part = Time(upto - given);
    given = upto;
  }
}

class WorkloadMaker {
 public:
  WorkloadMaker(const WorkloadOptions& options, const Cluster& cluster)
      : options_(options), cluster_(cluster) {}

  tl::expected<Workload, std::vector<WorkloadProblem>> make() {
    workload_.name = options_.model.name;
    workload_.gradients = options_.model.variables;
    for (Variable& gradient : workload_.gradients)
      gradient.type = options_.gradient_type.value_or(gradient.type);
    workload_.times.resize(cluster_.replica_groups());
    workload_.micro_batches = options_.micro_batches;
    if (options_.layer_times) {
      from_profile(*options_.layer_times);
    } else if (any_has(is_measured)) {
      from_measured_variables();
    } else if (any_has(has_flops)) {
      options_.forward&& options_.backward ? from_flops_shares() : from_flops();
    } else {
      from_nothing();
    }
    if (!problems_.empty()) return tl::make_unexpected(std::move(problems_));
    add_gaps();
    for (std::size_t g = 0; g < workload_.times.size(); ++g) {
      StepTimes& times = workload_.times[g];
      share_out_forward(times);
      if (options_.backward) scale_to(times.backward, *options_.backward);
      if (options_.recomputes) repeat_forward(times);
      times.update = options_.update ? *options_.update : default_update(g);
      set_compute_bound(g);
      if (workload_.micro_batches > 1) add_accumulation(times, device(g).device.memory);
    }
    if (options_.forward && options_.backward) {
      if (options_.layer_times) workload_.timing = "given totals, divided by " + workload_.timing;
    } else if (options_.forward || options_.backward) {
      workload_.timing += fmt::format("; given {} time", options_.forward ? "forward" : "backward");
    }
    if (options_.recomputes) workload_.timing += "; activations are computed again";
    if (workload_.micro_batches > 1)
      workload_.timing += fmt::format("; {} micro-batches per step", workload_.micro_batches);
    check_length();
    if (!problems_.empty()) return tl::make_unexpected(std::move(problems_));
    return std::move(workload_);
  }

 private:
  template <class... Args>
  void complain(const char* field, ProblemCode code, fmt::format_string<Args...> format,
                Args&&... args) {
    problems_.push_back({field, fmt::format(format, std::forward<Args>(args)...), code});
  }

  static bool is_measured(const Variable& variable) {
    return variable.forward || variable.backward;
  }
  static bool has_flops(const Variable& variable) {
    return variable.forward_flops || variable.backward_flops;
  }

  template <class Test>
  [[nodiscard]] bool any_has(Test test) const {
    return std::any_of(workload_.gradients.begin(), workload_.gradients.end(), test);
  }

  /// Returns a note on the layers without measured times or FLOPs, which take no time. The time or
  /// FLOPs of a layer may be given at any of its variables.
  template <class Test>
  [[nodiscard]] std::string layers_without(Test test) const {
    const auto without = std::count_if(
        workload_.segments.begin(), workload_.segments.end(), [&](const BackwardSegment& segment) {
          return std::none_of(segment.variables.begin(), segment.variables.end(),
                              [&](int v) { return test(workload_.gradients[v]); });
        });
    if (without == 0) return "";
    return fmt::format("; {} of {} layers have no time and count as 0", without,
                       workload_.segments.size());
  }

  [[nodiscard]] const Part& device(std::size_t group) const {
    const Machine& machine = *cluster_.groups()[group].machine;
    return machine
        .parts()[machine.gpus().empty() ? machine.cpus().front() : machine.gpus().front()];
  }

  [[nodiscard]] Time default_update(std::size_t group) const {
    // The size of the variables in their own types; gradients may be sent in another type.
    Bytes variables;
    for (const Variable& variable : options_.model.variables) {
      // With a sparse gradient, the update touches at most the rows that all replicas touch
      // together.
      variables += variable.slices
                       ? std::min(variable.elements, cluster_.replicas() * variable.slices->rows *
                                                         variable.row_elements()) *
                             size_of(variable.type)
                       : variable.bytes();
    }
    return transfer_time(kUpdatePasses, variables, device(group).device.memory);
  }

  void add_gaps() {
    workload_.gaps.forward = options_.forward_gap;
    if (!any_has([](const Variable& variable) { return variable.gap.has_value(); })) return;
    workload_.gaps.backward.resize(workload_.segments.size());
    for (std::size_t s = 0; s < workload_.segments.size(); ++s) {
      for (const int v : workload_.segments[s].variables) {
        const std::optional<Time>& gap = workload_.gradients[v].gap;
        if (gap) workload_.gaps.backward[s] = workload_.gaps.backward[s].value_or(Time()) + *gap;
      }
    }
  }

  /// Divides the forward time. If the forward times of layers are unknown, the forward time is
  /// divided in proportion to the backward times.
  void share_out_forward(StepTimes& times) const {
    if (options_.forward) times.forward = *options_.forward;
    Time known;
    for (const Time t : times.forward_by_segment) known += t;
    if (known == Time()) times.forward_by_segment = times.backward;
    scale_to(times.forward_by_segment, times.forward);
  }

  static void repeat_forward(StepTimes& times) {
    for (std::size_t s = 0; s < times.backward.size(); ++s)
      times.backward[s] += times.forward_by_segment[s];
  }

  /// Returns the number of samples in a pass; nullopt if unknown.
  [[nodiscard]] std::optional<std::int64_t> batch() const {
    if (options_.batch) return options_.batch;
    if (options_.layer_times) return options_.layer_times->batch;
    return any_has(is_measured) ? std::optional(options_.model.batch) : std::nullopt;
  }

  /// Returns the precision of the layers: by default, the type of the variables, even if gradients
  /// have another type.
  [[nodiscard]] Precision precision() const {
    return options_.precision.value_or(precision_of(options_.model.variables.front().type));
  }

  /// True if the variable is the kernel of a convolution without tensor cores.
  [[nodiscard]] bool is_plain_convolution(const Variable& variable) const {
    return precision() == Precision::kFloat32 && is_convolution(variable);
  }

  /// Returns the fraction of the device's peak rate that the operations of a variable reach.
  [[nodiscard]] double efficiency(const Variable& variable) const {
    return options_.flops_efficiency.value_or(
        is_plain_convolution(variable) ? kEfficiencyOfConvolutions : kEfficiency);
  }

  /// Sets the fraction of each layer's time that is limited by multiprocessors: the time of its
  /// operations at their efficiency, divided by the layer's time. If the operations, the number
  /// of samples or the device's rate is unknown, the option `compute_bound_ppm` applies; by
  /// default, all of the time is limited by multiprocessors.
  void set_compute_bound(std::size_t g) {
    StepTimes& times = workload_.times[g];
    const std::int64_t otherwise = options_.compute_bound_ppm.value_or(kAllOfIt);
    times.forward_compute_bound = otherwise;
    times.backward_compute_bound.assign(workload_.segments.size(), otherwise);
    const auto& rates = device(g).device.flops_per_second;
    const auto rate = rates.find(precision());
    if (options_.compute_bound_ppm || !any_has(has_flops) || !batch() || rate == rates.end())
      return;
    const double seconds_per_operation = static_cast<double>(*batch()) / rate->second;
    const auto bound = [&](double operations, Time time) {
      const auto needed = static_cast<double>(seconds(operations * seconds_per_operation).count());
      const auto taken = static_cast<double>(time.count());
      return needed < taken ? std::llround(needed / taken * static_cast<double>(kAllOfIt))
                            : kAllOfIt;
    };
    double forward = 0;
    for (std::size_t s = 0; s < workload_.segments.size(); ++s) {
      double backward = 0;
      const double before = forward;
      for (const int v : workload_.segments[s].variables) {
        const Variable& variable = workload_.gradients[v];
        backward += variable.backward_flops.value_or(0) / efficiency(variable);
        forward += variable.forward_flops.value_or(0) / efficiency(variable);
      }
      if (options_.recomputes) backward += forward - before;
      times.backward_compute_bound[s] = bound(backward, times.backward[s]);
    }
    times.forward_compute_bound = bound(forward, times.forward);
  }

  void add_accumulation(StepTimes& times, Bandwidth memory) const {
    std::vector<Bytes> bytes;
    for (const BackwardSegment& segment : workload_.segments) {
      Bytes& sum = bytes.emplace_back();
      for (const int v : segment.variables) sum += workload_.gradients[v].bytes();
    }
    for (const Bytes b : bytes)
      times.accumulate.push_back(transfer_time(kAccumulatePasses, b, memory));
    if (!options_.accumulate) return;
    // The time is divided in proportion to bytes, whatever the memory bandwidth.
    for (std::size_t s = 0; s < bytes.size(); ++s) times.accumulate[s] = Time(bytes[s].count());
    scale_to(times.accumulate, *options_.accumulate);
  }

  /// Rejects a step with more than a day of computation. A time of more than a day indicates a
  /// wrong unit, and sums of such times would not fit into 64 bits.
  void check_length() {
    for (const StepTimes& times : workload_.times) {
      double pass = static_cast<double>(times.forward.count());
      for (const Time t : times.backward) pass += static_cast<double>(t.count());
      for (const Time t : times.accumulate) pass += static_cast<double>(t.count());
      const double length =
          pass * workload_.micro_batches + static_cast<double>(times.update.count());
      if (length < 86'400e12) continue;
      complain(
          "", ProblemCode::kTooLarge,
          "one training step would compute for {:.0f} hours; check batch, the times and the rates",
          length / 3600e12);
      return;
    }
  }

  /// Makes one segment per layer, beginning with the last layer. The gradients of a layer become
  /// ready together.
  void segments_by_layer() {
    std::map<std::int64_t, std::vector<int>, std::greater<>> layers;
    for (int i = 0; i < static_cast<int>(workload_.gradients.size()); ++i)
      layers[workload_.gradients[i].layer].push_back(i);
    for (auto& [layer, variables] : layers) {
      workload_.segments.push_back(
          {workload_.gradients[variables.front()].name, std::move(variables)});
    }
    for (StepTimes& times : workload_.times)
      times.backward.assign(workload_.segments.size(), Time());
  }

  void from_profile(const LayerTimes& profile) {
    std::map<std::string, int> indices;
    for (int i = 0; i < static_cast<int>(workload_.gradients.size()); ++i)
      indices[workload_.gradients[i].name] = i;
    std::vector<bool> seen(workload_.gradients.size(), false);
    const double scale = static_cast<double>(options_.batch.value_or(profile.batch)) /
                         static_cast<double>(profile.batch);
    const auto scaled = [scale](Time t) {
      return seconds(static_cast<double>(t.count()) * 1e-12 * scale);
    };

    Time forward;
    std::vector<Time> backward, forward_by_segment;
    for (auto layer = profile.layers.rbegin(); layer != profile.layers.rend(); ++layer) {
      forward_by_segment.push_back(scaled(layer->forward));
      forward += forward_by_segment.back();
      BackwardSegment segment{layer->layer, {}};
      for (const std::string& name : layer->variables) {
        const auto index = indices.find(name);
        if (index == indices.end()) {
          complain("layer_times", ProblemCode::kConflict,
                   "layer \"{}\" of the profile produces the gradient of \"{}\", which model "
                   "\"{}\" does not have; is it the profile of another model?",
                   layer->layer, name, workload_.name);
          return;
        }
        if (seen[index->second]) {
          complain("layer_times", ProblemCode::kDuplicate,
                   "the profile produces the gradient of \"{}\" twice", name);
          return;
        }
        seen[index->second] = true;
        segment.variables.push_back(index->second);
      }
      workload_.segments.push_back(std::move(segment));
      backward.push_back(scaled(layer->backward));
    }
    std::vector<std::string> missing;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (!seen[i]) missing.push_back(fmt::format("\"{}\"", workload_.gradients[i].name));
    }
    if (!missing.empty()) {
      const std::size_t listed = std::min<std::size_t>(missing.size(), 5);
      return complain(
          "layer_times", ProblemCode::kMissing,
          "no layer of the profile produces the gradient{} of {}{}; every variable must belong to "
          "a layer",
          missing.size() > 1 ? "s" : "", fmt::join(missing.begin(), missing.begin() + listed, ", "),
          missing.size() > listed ? fmt::format(" and {} more", missing.size() - listed) : "");
    }
    for (StepTimes& times : workload_.times) {
      times.forward = forward;
      times.backward = backward;
      times.forward_by_segment = forward_by_segment;
    }
    workload_.timing = fmt::format("measured layer times ({}, batch {})", profile.title,
                                   options_.batch.value_or(profile.batch));
  }

  void from_measured_variables() {
    segments_by_layer();
    const double scale = static_cast<double>(options_.batch.value_or(options_.model.batch)) /
                         static_cast<double>(options_.model.batch);
    for (StepTimes& times : workload_.times) {
      times.forward_by_segment.resize(workload_.segments.size());
      for (std::size_t s = 0; s < workload_.segments.size(); ++s) {
        for (const int v : workload_.segments[s].variables) {
          const Variable& variable = workload_.gradients[v];
          const Time forward = seconds(
              static_cast<double>(variable.forward.value_or(Time()).count()) * 1e-12 * scale);
          times.forward += forward;
          times.forward_by_segment[s] += forward;
          times.backward[s] += seconds(
              static_cast<double>(variable.backward.value_or(Time()).count()) * 1e-12 * scale);
        }
      }
    }
    workload_.timing = "times given for each variable" + layers_without(is_measured);
  }

  void from_flops() {
    if (!options_.batch)
      return complain("", ProblemCode::kMissing,
                      "batch is missing; set it to the number of samples per replica and step, to "
                      "compute times from FLOPs");
    segments_by_layer();
    std::vector<std::string> seen;  // rates of the groups so far
    for (std::size_t g = 0; g < workload_.times.size(); ++g) {
      const auto& rates = device(g).device.flops_per_second;
      const auto rate = rates.find(precision());
      if (rate == rates.end()) {
        complain("", ProblemCode::kUnsupported,
                 "machine \"{}\" has no {} rate for \"{}\"; add one (flops {{ data_type: … tflops: "
                 "… }}), use another machine, or set forward_ms and backward_ms",
                 cluster_.groups()[g].machine->name(), to_string(precision()), device(g).name);
        continue;
      }
      fill_from_flops(workload_.times[g], static_cast<double>(*options_.batch) / rate->second,
                      [this](const Variable& variable) { return efficiency(variable); });
      raise_to_minimum(workload_.times[g], device(g));
      const std::string text = fmt::format("{:g}", rate->second / 1e12);
      if (std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(text);
    }
    workload_.precision = precision();
    workload_.timing =
        fmt::format("FLOPs at {:g} % of {} TFLOP/s ({}), batch {}{}",
                    100 * options_.flops_efficiency.value_or(kEfficiency), fmt::join(seen, " and "),
                    to_string(precision()), *options_.batch, layers_without(has_flops));
    const auto plain = [this](const Variable& variable) { return is_plain_convolution(variable); };
    if (!options_.flops_efficiency && any_has(plain))
      workload_.timing += fmt::format("; convolutions at {:g} %", 100 * kEfficiencyOfConvolutions);
  }

  /// The result is scaled to the given totals, so only the ratios between layers matter.
  void from_flops_shares() {
    segments_by_layer();
    const auto equal = [](const Variable&) { return 1.0; };
    for (StepTimes& times : workload_.times) fill_from_flops(times, 1e-12, equal);
    workload_.timing = "given totals, divided by FLOPs" + layers_without(has_flops);
  }

  /// `reached` returns the fraction of the rate that the operations of a variable reach.
  template <class Reached>
  void fill_from_flops(StepTimes& times, double seconds_per_operation, Reached reached) {
    double forward = 0;
    times.forward_by_segment.resize(workload_.segments.size());
    for (std::size_t s = 0; s < workload_.segments.size(); ++s) {
      double operations = 0;
      const double before = forward;
      for (const int v : workload_.segments[s].variables) {
        const Variable& variable = options_.model.variables[v];
        operations += variable.backward_flops.value_or(0) / reached(variable);
        forward += variable.forward_flops.value_or(0) / reached(variable);
      }
      times.forward_by_segment[s] = seconds((forward - before) * seconds_per_operation);
      times.backward[s] = seconds(operations * seconds_per_operation);
    }
    times.forward = seconds(forward * seconds_per_operation);
  }

  /// Raises the times of layers with FLOPs to the time that the device and its host need at least.
  /// On a GPU, a layer does not end in a pass before the host has launched one kernel for each
  /// layer so far. The host launches kernels ahead, so launches do not add to the times of layers
  /// that take longer.
  void raise_to_minimum(StepTimes& times, const Part& device) const {
    const bool gpu = device.kind == PartKind::kGpu;
    // Only tensor cores need a layout, so CPUs transpose nothing.
    const LayerTraffic traffic(
        options_.model, workload_.gradients,
        {*options_.batch, precision(), gpu ? options_.channels_last : std::optional(true)});
    const Time issue = gpu ? kKernelIssue : Time();
    Time issued, done;
    const Bandwidth memory = device.device.memory;
    const auto raise = [&](Time& time, const Moved& moved) {
      if (time == Time()) return;
      issued += issue;
      const Time taken = std::max(time, transfer_time(moved.while_computing, memory)) +
                         transfer_time(moved.separately, memory);
      const Time end = std::max(done + taken, issued);
      time = end - done;
      done = end;
    };
    for (std::size_t s = workload_.segments.size(); s-- > 0;) {
      const Time before = times.forward_by_segment[s];
      raise(times.forward_by_segment[s], traffic.forward(workload_.segments[s].variables));
      times.forward += times.forward_by_segment[s] - before;
    }
    for (std::size_t s = 0; s < workload_.segments.size(); ++s)
      raise(times.backward[s], traffic.backward(workload_.segments[s].variables));
  }

  void from_nothing() {
    segments_by_layer();
    workload_.timing = options_.backward
                           ? "the given time of each pass, divided equally among the layers"
                           : "no computation: all gradients are ready at once";
  }

  const WorkloadOptions& options_;
  const Cluster& cluster_;
  Workload workload_;
  std::vector<WorkloadProblem> problems_;
};

}  // namespace

tl::expected<Workload, std::vector<WorkloadProblem>> make_workload(const WorkloadOptions& options,
                                                                   const Cluster& cluster) {
  TUTTI_CHECK(!options.model.variables.empty(), "model {} has no variables", options.model.name);
  return WorkloadMaker(options, cluster).make();
}

}  // namespace tutti::core
