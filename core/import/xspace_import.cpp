// A kernel belongs to a training step by its group_id, which the host's event of the step has, too.
// Otherwise it belongs to the step during which the host launched it; the correlation id connects
// the kernel with its launch. A profile without such events has no steps.
//
// The pass of a kernel follows from the name of its operation: TensorFlow calls gradients
// "gradient_tape/…" or "gradients/…", and JAX "transpose(jvp(…))". The size of a collective is in
// XLA's HLO, in which the collective is found by its module and name. All-reduces of the backward
// pass are packs of gradients.

#include "core/import/xspace_import.h"

#include <algorithm>
#include <limits>
#include <map>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/formats/xspace.h"

namespace tutti::core {
namespace {

constexpr std::size_t kMaxXspaceKernels = 40'000'000;

bool holds_part(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// Returns true if the line has events that were derived from other lines of the plane.
bool is_derived(std::string_view line) {
  for (const std::string_view derived :
       {"XLA Modules", "XLA Ops", "Launch Stats", "TensorFlow Ops", "TensorFlow Name Scope",
        "Framework Ops", "Framework Name Scope", "Source code", "Async XLA Ops", "Source Code"}) {
    if (line.starts_with(derived)) return true;
  }
  return false;
}

class XspaceImport {
 public:
  XspaceImport(MeasuredRun& run, std::string name) : run_(run), name_(std::move(name)) {}

  Expected<void> read(ByteInput& input, const std::function<void(double)>& progress) {
    TakeXspace take;
    take.event = [this](const XspaceEvent& event) { take_event(event); };
    take.collective = [this](const XspaceCollective& one) { take_collective(one); };
    const auto header = read_xspace(input, name_, take, run_.counts, progress);
    if (!header) return tl::make_unexpected(header.error());
    if (too_many_)
      return tl::make_unexpected(
          Error::request({ProblemCode::kTooLarge},
                         fmt::format("this profile has more than {} kernels; profile fewer steps",
                                     kMaxXspaceKernels),
                         {name_, 0, 0}));
    run_.format = "XSpace profile";
    run_.framework = is_jax_ ? "JAX" : "TensorFlow";
    run_.files.push_back(name_);
    if (!header->gpu.empty()) run_.gpu = header->gpu;
    for (const std::string& error : header->errors)
      run_.notes.push_back(fmt::format("{}: the profiler reports: {}", name_, error));
    if (devices_.empty())
      run_.notes.push_back(fmt::format(
          "{}: this profile has no GPU kernel; profile with device_tracer_level 1", name_));
    add_ranks(*header);
    return {};
  }

 private:
  struct Kernel {
    std::int64_t start_ns = 0, end_ns = 0, group = -1, correlation = -1;
    std::int32_t collective = -1;
    MeasuredPhase phase = MeasuredPhase::kForward;
    bool has_phase = false;
    bool is_forward = false;  ///< true if the profile states that it is of the forward pass
  };
  struct Device {
    std::vector<Kernel> kernels;
    std::vector<MeasuredCollective> collectives;
    std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> steps;  ///< of the line Steps
  };
  struct HostStep {
    std::int64_t number = 0, start_ns = 0, end_ns = 0, group = -1;
  };
  struct Instruction {
    std::int64_t bytes = 0, group_size = -1;
    std::string type, opcode;
  };

  void take_event(const XspaceEvent& e) {
    if (e.plane.starts_with("/device:GPU:")) return take_gpu(e);
    if (e.step >= 0) {
      constexpr std::size_t kMaxSteps = 1 << 20;
      if (host_steps_.size() < kMaxSteps)
        host_steps_.push_back({e.step, e.start_ns, e.start_ns + e.duration_ns, e.group});
      return run_.counts.use("step on the host");
    }
    if (e.correlation >= 0) {
      if (launches_.size() < kMaxXspaceKernels) launches_.emplace(e.correlation, e.start_ns);
      return run_.counts.use("launch");
    }
    run_.counts.ignore("other event of the host");
  }

  void take_gpu(const XspaceEvent& e) {
    const auto number = whole_number<std::int32_t>(e.plane.substr(12));
    constexpr std::int32_t kMaxDevices = 1024;
    if (!number || *number < 0 || *number >= kMaxDevices)
      return run_.counts.incomplete("event of a GPU without a number");
    Device& device = devices_[*number];
    if (e.line.starts_with("Steps")) {
      const auto step = whole_number<std::int64_t>(e.name);
      if (!step) return run_.counts.incomplete("step without a number");
      device.steps[*step] = {e.start_ns, e.start_ns + e.duration_ns};
      return run_.counts.use("step of a GPU");
    }
    if (is_derived(e.line)) return run_.counts.ignore("derived event");
    if (device.kernels.size() >= kMaxXspaceKernels) {
      too_many_ = true;
      return;
    }
    Kernel kernel{e.start_ns, e.start_ns + e.duration_ns, e.group, e.correlation};
    is_jax_ = is_jax_ || holds_part(e.op_name, "jit(") || e.hlo_module.starts_with("jit_") ||
              e.hlo_module.starts_with("pmap_");
    set_phase(e, kernel);
    const bool is_nccl = e.name.starts_with("nccl") || holds_part(e.name, "ncclDevKernel") ||
                         holds_part(e.name, "ncclKernel");
    if (is_nccl) {
      kernel.collective = static_cast<std::int32_t>(device.collectives.size());
      device.collectives.push_back(collective_of(e));
      run_.counts.use("kernel of NCCL");
    } else {
      run_.counts.use("kernel or copy");
    }
    device.kernels.push_back(kernel);
  }

  static void set_phase(const XspaceEvent& e, Kernel& kernel) {
    for (const std::string_view text : {e.op_name, e.tf_op, e.hlo_op}) {
      if (text.empty()) continue;
      if (holds_part(text, "gradient_tape/") || holds_part(text, "gradients/") ||
          holds_part(text, "transpose(jvp") || holds_part(text, "transpose(")) {
        kernel.phase = MeasuredPhase::kBackward;
        kernel.has_phase = true;
        return;
      }
      if (holds_part(text, "ResourceApply") || holds_part(text, "optimizer") ||
          holds_part(text, "Optimizer") || holds_part(text, "/Adam/") ||
          holds_part(text, "/SGD/") || holds_part(text, "apply_updates")) {
        kernel.phase = MeasuredPhase::kUpdate;
        kernel.has_phase = true;
        return;
      }
      // In JAX, the names of the forward pass's operations that have a gradient contain "jvp(".
      if (holds_part(text, "jvp(")) kernel.is_forward = true;
    }
  }

  MeasuredCollective collective_of(const XspaceEvent& e) {
    MeasuredCollective c;
    c.kind = measured_kind_of(e.name);
    c.start_ns = e.start_ns;
    c.end_ns = e.start_ns + e.duration_ns;
    c.duration_ns = e.duration_ns;
    if (e.grid > 0 && e.grid < 1 << 20) c.channels = static_cast<std::int32_t>(e.grid);
    for (std::string_view name = e.name.substr(0, e.name.find('(')); !name.empty();) {
      const std::string_view token = name.substr(0, name.find('_'));
      name.remove_prefix(std::min(name.size(), token.size() + 1));
      for (const auto& [written, choice] :
           std::initializer_list<std::pair<std::string_view, std::string_view>>{
               {"RING", "ring"}, {"TREE", "tree"}, {"NVLS", "nvls"}, {"PAT", "pat"}}) {
        if (token == written) c.algorithm = choice;
      }
      if (token == "LL" || token == "LL128" || token == "SIMPLE")
        c.protocol = token == "SIMPLE" ? "simple" : token == "LL" ? "ll" : "ll128";
    }
    // Modules are read before or after the planes of GPUs, so the size is looked up at the end.
    pending_.push_back({std::string(e.hlo_module), std::string(e.hlo_op)});
    c.sequence = static_cast<std::int64_t>(pending_.size()) - 1;
    return c;
  }

  void take_collective(const XspaceCollective& one) {
    constexpr std::size_t kMaxInstructions = 1 << 20;
    if (instructions_.size() >= kMaxInstructions) return;
    Instruction made{one.bytes, one.group_size, std::string(one.type), std::string(one.opcode)};
    // The output of the first instruction of an asynchronous operation is a tuple of the operand
    // and the actual result.
    const bool is_tuple_of_both =
        one.opcode == "all-gather-start" || one.opcode == "collective-permute-start";
    const bool is_scatter = one.opcode.starts_with("reduce-scatter");
    if ((one.opcode == "all-gather-start" || is_scatter) && one.group_size <= 0) {
      // An empty list of groups stands for all ranks, whose number the profile does not state.
      made.bytes = 0;
      run_.counts.incomplete("collective of XLA in a group of unknown size");
    } else if (one.opcode == "all-gather-start") {
      made.bytes = one.bytes / (one.group_size + 1) * one.group_size;
    } else if (is_tuple_of_both) {
      made.bytes /= 2;
    } else if (is_scatter) {
      constexpr std::int64_t kMaxXlaBytes = std::int64_t{1} << 60;
      made.bytes = one.bytes > kMaxXlaBytes / one.group_size ? 0 : one.bytes * one.group_size;
    }
    instructions_[{std::string(one.module), std::string(one.name)}] = made;
  }

  /// Sets the size, type and communicator of a collective. Returns the number of ranks of its
  /// group, or -1 if it is unknown.
  std::int64_t resolve(MeasuredCollective& c) {
    const auto& [module, op] = pending_[static_cast<std::size_t>(c.sequence)];
    c.sequence = -1;
    // Modules may have a suffix that their name in the HLO lacks, such as "(17)".
    auto found = instructions_.find({module, op});
    if (found == instructions_.end())
      found = instructions_.find({module.substr(0, module.find('(')), op});
    if (found == instructions_.end()) {
      run_.counts.incomplete("kernel of NCCL of unknown size");
      return -1;
    }
    const Instruction& one = found->second;
    if (one.bytes > 0)
      c.bytes = one.bytes;
    else
      run_.counts.incomplete("kernel of NCCL of unknown size");
    c.type = element_type_of(one.type);
    if (c.kind == MeasuredKind::kOther) c.kind = measured_kind_of(one.opcode);
    if (one.group_size > 1) {
      c.group = group_index(run_, MeasuredGroup{"XLA", "", one.group_size, {}});
      run_.world_size = std::max(run_.world_size, one.group_size);
    }
    return one.group_size > 0 ? one.group_size : -1;
  }

  // ------------------------------------------------------------------------------ the ranks

  void add_ranks(const XspaceHeader& header) {
    std::sort(host_steps_.begin(), host_steps_.end(),
              [](const HostStep& a, const HostStep& b) { return a.start_ns < b.start_ns; });
    const auto before = static_cast<std::int64_t>(run_.ranks.size());
    world_ = std::max(run_.world_size, before + static_cast<std::int64_t>(devices_.size()));
    for (const auto& [name, one] : instructions_) world_ = std::max(world_, one.group_size);
    std::int64_t number = 0;
    for (auto& [index, device] : devices_) {
      if (device.kernels.empty()) continue;
      MeasuredRank rank;
      rank.rank = before + number++;
      rank.host = header.host.empty() ? name_ : header.host;
      rank.device = index;
      add_device(device, rank);
      run_.ranks.push_back(std::move(rank));
    }
    run_.world_size = std::max(run_.world_size, static_cast<std::int64_t>(run_.ranks.size()));
    if (not_gradients_ > 0)
      run_.notes.push_back(
          fmt::format("{}: {} all-reduces are not treated as packs of gradients, because they "
                      "belong to the forward pass, or because not all of the {} ranks take part",
                      name_, not_gradients_, world_));
    if (!run_.ranks.empty() && run_.ranks.back().steps.empty())
      run_.notes.push_back(
          fmt::format("{}: this profile marks no training steps; record them with "
                      "tf.profiler.experimental.Trace "
                      "or jax.profiler.StepTraceAnnotation",
                      name_));
  }

  void add_device(Device& device, MeasuredRank& rank) {
    std::sort(device.kernels.begin(), device.kernels.end(),
              [](const Kernel& a, const Kernel& b) { return a.start_ns < b.start_ns; });
    make_steps(device, rank);
    std::vector<std::int32_t> packs(rank.steps.size(), 0);
    for (const Kernel& kernel : device.kernels) {
      const std::int32_t step = step_of(kernel, rank);
      if (step >= 0) extend(rank.steps[step], kernel);
      if (kernel.collective < 0) {
        rank.compute.push_back({kernel.start_ns, kernel.end_ns, step, -1, kernel.phase});
        continue;
      }
      MeasuredCollective c = device.collectives[kernel.collective];
      const std::int64_t ranks = resolve(c);
      c.step = step;
      const bool may_be_pack = step >= 0 && c.kind == MeasuredKind::kAllReduce && c.bytes > 0;
      // All-reduces of the update may have gradients, because Keras reduces gradients in the scope
      // of the optimizer. The activations of tensor parallelism are reduced in the forward pass, or
      // in smaller groups.
      const bool is_pack = may_be_pack && !(kernel.is_forward && !kernel.has_phase) &&
                           (ranks < 0 || ranks == world_);
      if (may_be_pack && !is_pack) ++not_gradients_;
      if (is_pack) add_pack(c, packs[step]++, rank.steps[step]);
      rank.collectives.push_back(std::move(c));
    }
    for (MeasuredStep& step : rank.steps) {
      if (step.backward_ns >= 0)
        step.backward_end_ns = std::max(step.backward_end_ns, step.backward_ns);
    }
  }

  /// Makes the steps of a rank, from the line Steps or the events of the host.
  void make_steps(const Device& device, MeasuredRank& rank) {
    const auto add = [&](std::int64_t number, std::int64_t start, std::int64_t end) {
      MeasuredStep step;
      step.number = number;
      step.start_ns = start;
      step.end_ns = std::max(start, end);
      step.host_ns = step.end_ns - step.start_ns;
      rank.steps.push_back(std::move(step));
    };
    groups_.clear();
    if (!device.steps.empty()) {
      for (const auto& [number, when] : device.steps) add(number, when.first, when.second);
      std::sort(rank.steps.begin(), rank.steps.end(),
                [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
      by_host_ = false;
      return;
    }
    by_host_ = true;
    for (const HostStep& step : host_steps_) {
      if (step.group >= 0)
        groups_.emplace(step.group, static_cast<std::int32_t>(rank.steps.size()));
      add(step.number, step.start_ns, step.end_ns);
    }
  }

  [[nodiscard]] std::int32_t step_of(const Kernel& kernel, const MeasuredRank& rank) const {
    if (rank.steps.empty()) return -1;
    if (by_host_ && kernel.group >= 0) {
      if (const auto known = groups_.find(kernel.group); known != groups_.end())
        return known->second;
    }
    std::int64_t time = kernel.start_ns;
    if (by_host_) {
      if (const auto launch = launches_.find(kernel.correlation); launch != launches_.end())
        time = launch->second;
    }
    const auto behind =
        std::upper_bound(rank.steps.begin(), rank.steps.end(), time,
                         [](std::int64_t t, const MeasuredStep& s) { return t < s.start_ns; });
    if (behind == rank.steps.begin()) return -1;
    const auto index = static_cast<std::int32_t>(behind - rank.steps.begin() - 1);
    const MeasuredStep& step = rank.steps[index];
    return time <= step.start_ns + step.host_ns ? index : -1;
  }

  /// Extends a step by a kernel. A step ends when its last kernel ends, because the host runs
  /// ahead.
  static void extend(MeasuredStep& step, const Kernel& kernel) {
    step.end_ns = std::max(step.end_ns, kernel.end_ns);
    if (kernel.collective >= 0 || kernel.phase != MeasuredPhase::kBackward) return;
    if (step.backward_ns < 0 || kernel.start_ns < step.backward_ns)
      step.backward_ns = kernel.start_ns;
    step.backward_end_ns = std::max(step.backward_end_ns, kernel.end_ns);
  }

  /// Adds an all-reduce as a pack with one gradient, because profiles do not name variables.
  static void add_pack(MeasuredCollective& c, std::int32_t pack, MeasuredStep& step) {
    c.pack = pack;
    MeasuredGradient gradient;
    gradient.ready_ns = c.start_ns;
    gradient.type = c.type;
    if (c.type.bytes > 0) gradient.elements = c.bytes / c.type.bytes;
    if (gradient.elements > 0) gradient.shape = {gradient.elements};
    gradient.layer = pack;
    gradient.pack = pack;
    step.layers.push_back(fmt::format("pack_{}", pack));
    step.gradients.push_back(std::move(gradient));
  }

  MeasuredRun& run_;
  std::string name_;
  std::int64_t world_ = 0;          ///< the number of ranks, as far as it is known
  std::int64_t not_gradients_ = 0;  ///< all-reduces of steps that are not packs of gradients
  bool too_many_ = false, is_jax_ = false, by_host_ = false;
  std::map<std::int32_t, Device> devices_;
  std::vector<HostStep> host_steps_;
  std::unordered_map<std::int64_t, std::int64_t> launches_;   ///< time of a launch, by correlation
  std::vector<std::pair<std::string, std::string>> pending_;  ///< module and name of collectives
  std::map<std::pair<std::string, std::string>, Instruction> instructions_;
  std::map<std::int64_t, std::int32_t> groups_;  ///< index of the step, by group_id
};

}  // namespace

Expected<void> import_xspace(ByteInput& input, const std::string& name, MeasuredRun& run,
                             const std::function<void(double)>& progress) {
  return XspaceImport(run, name).read(input, progress);
}

}  // namespace tutti::core
