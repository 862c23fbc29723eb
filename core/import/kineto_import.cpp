// A trace is processed in two passes. While events are read, which may be in any order, they are
// stored in compact lists. In the second pass, the lists are sorted by time and joined. A kernel
// belongs to the training step and the pass (forward or backward) in which the host launched it.
// The correlation id connects a kernel with its launch.

#include "core/import/kineto_import.h"

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>

#include "core/base/number.h"
#include "core/formats/kineto.h"
#include "core/import/kineto_fields.h"

namespace tutti::core {
namespace {

constexpr std::size_t kMaxRecords = 40'000'000;
constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";
constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";

/// An interval of time on a thread of the host.
struct HostRange {
  std::int64_t start = 0, end = 0;
  std::int32_t thread = 0;
  std::int32_t text = -1;  ///< index of the name in the table of texts; -1 if the name is not
                           ///< needed
};

struct Launch {
  std::int64_t correlation = 0;
  std::int64_t start = 0;
  std::int32_t thread = 0;
};

struct Kernel {
  std::int64_t start = 0, end = 0;
  std::int64_t correlation = -1;
  std::int64_t external = -1;
  std::int64_t launched = -1;  ///< time at which the host launched the kernel; -1: the launch was
                               ///< before the trace began
  std::int32_t thread = -1;    ///< the host's thread that launched the kernel
  std::int32_t collective = -1;
};

/// Memory of the GPU that the host allocated.
struct Allocation {
  std::int64_t time = 0;
  std::int64_t bytes = 0;
  std::int32_t thread = 0;
};

/// A call of a collective on the host. The trace records it as record_param_comms or as an
/// annotation nccl:….
struct Call {
  HostRange range;
  std::int64_t external = -1;
  MeasuredCollective what;
};

}  // namespace

class RankTrace::Events {
 public:
  Events(MeasuredRun& run, std::string name) : run_(run), name_(std::move(name)) {}

  Expected<void> finish(KinetoHeader header) {
    header_ = std::move(header);
    if (too_many_)
      return tl::make_unexpected(Error::request(
          {ProblemCode::kTooLarge},
          fmt::format("this trace has more than {} kernels or launches; profile fewer steps "
                      "(torch.profiler.schedule)",
                      kMaxRecords),
          {name_, 0, 0}));
    return join();
  }

  void take(const KinetoEvent& e) { take_event(e); }

 private:
  std::int32_t thread_of(const KinetoEvent& e) {
    key_.assign(e.pid).append("\x1f").append(e.tid);
    const auto known = threads_.find(key_);
    if (known != threads_.end()) return known->second;
    constexpr std::size_t kMaxThreads = 1 << 16;
    if (threads_.size() >= kMaxThreads) return -1;
    return threads_[key_] = static_cast<std::int32_t>(threads_.size());
  }
  std::int32_t text_of(std::string_view text) {
    const auto known = texts_.find(text);
    if (known != texts_.end()) return known->second;
    constexpr std::size_t kMaxTexts = 1 << 14;
    if (texts_.size() >= kMaxTexts) return 0;
    names_.emplace_back(text.substr(0, 200));
    const auto index = static_cast<std::int32_t>(names_.size() - 1);
    texts_.emplace(std::string(text), index);
    return index;
  }
  HostRange range_of(const KinetoEvent& e, std::int32_t text = -1) {
    return {e.start_ns, e.start_ns + e.duration_ns, thread_of(e), text};
  }
  template <class T>
  bool full(const std::vector<T>& list) {
    too_many_ = too_many_ || list.size() >= kMaxRecords;
    return too_many_;
  }

  void take_event(const KinetoEvent& e) {
    RecordCounts& counts = run_.counts;
    switch (e.kind) {
      case KinetoKind::kKernel: return take_kernel(e);
      case KinetoKind::kCopy:
        if (full(kernels_)) return;
        kernels_.push_back({e.start_ns, e.start_ns + e.duration_ns, e.correlation, e.external_id});
        return counts.use("copy on the GPU");
      case KinetoKind::kLaunch:
        if (e.name.find("aunch") == std::string::npos &&
            e.name.find("emcpy") == std::string::npos && e.name.find("emset") == std::string::npos)
          return counts.ignore("runtime call without a launch");
        if (e.correlation < 0) return counts.incomplete("launch without a correlation");
        if (full(launches_)) return;
        launches_.push_back({e.correlation, e.start_ns, thread_of(e)});
        return counts.use("launch");
      case KinetoKind::kGpuAnnotation: return counts.ignore("annotation on the GPU");
      case KinetoKind::kAnnotation: return take_annotation(e);
      case KinetoKind::kCpuOperator: return take_operator(e);
      case KinetoKind::kAllocation:
        if (full(allocations_)) return;
        allocations_.push_back({e.start_ns, e.bytes, thread_of(e)});
        return;  // count_copies() counts these events
    }
  }

  void take_kernel(const KinetoEvent& e) {
    if (full(kernels_)) return;
    kernels_.push_back({e.start_ns, e.start_ns + e.duration_ns, e.correlation, e.external_id});
    if (!is_nccl_kernel(e.name)) return run_.counts.use("kernel");
    kernels_.back().collective = static_cast<std::int32_t>(collectives_.size());
    MeasuredCollective c;
    c.kind = measured_kind_of(e.collective.empty() ? e.name : e.collective);
    // The type in the kernel's name is not used: before NCCL 2.19, a broadcast's kernel could have
    // another type than its data.
    choice_of_kernel(e.name, c);
    describe(e, c);
    if (c.kind == MeasuredKind::kAllReduce && c.type.name.empty())
      c.type = element_type_of(type_of_kernel(e.name));
    c.start_ns = e.start_ns;
    c.end_ns = e.start_ns + e.duration_ns;
    c.duration_ns = e.duration_ns;
    if (e.grid > 0 && e.grid < 1 << 20) c.channels = static_cast<std::int32_t>(e.grid);
    collectives_.push_back(std::move(c));
    run_.counts.use("kernel of NCCL");
  }

  /// Copies the metadata of a collective from the event of its kernel or of its call.
  void describe(const KinetoEvent& e, MeasuredCollective& c) {
    c.type = element_type_of(e.data_type);
    const std::int64_t elements = std::max(e.in_elements, e.out_elements);
    if (elements > 0 && c.type.bytes > 0 && elements < std::int64_t{1} << 50)
      c.bytes = elements * c.type.bytes;
    c.sequence = e.sequence;
    if (e.group_name.empty() && e.group_size < 0) return;
    MeasuredGroup group{e.group_name, e.group_description, e.group_size, rank_list(e.group_ranks)};
    if (group.ranks.empty() && e.rank_start >= 0 && e.rank_stride > 0 && e.group_size > 0 &&
        e.group_size < 1 << 20) {
      for (std::int64_t r = 0; r < e.group_size; ++r)
        group.ranks.push_back(e.rank_start + r * e.rank_stride);
    }
    c.group = group_index(run_, group);
  }

  void take_annotation(const KinetoEvent& e) {
    RecordCounts& counts = run_.counts;
    if (e.name.starts_with("ProfilerStep#")) {
      const auto number = whole_number<std::int64_t>(std::string_view(e.name).substr(13));
      constexpr std::size_t kMaxSteps = 1 << 20;
      if (!number || steps_.size() >= kMaxSteps) return counts.incomplete("step without a number");
      steps_.push_back({*number, e.start_ns, e.start_ns + e.duration_ns});
      return counts.use("step");
    }
    if (e.name.starts_with("nccl:")) {
      if (full(annotated_)) return;
      Call call{range_of(e), e.external_id, {}};
      call.what.kind = measured_kind_of(std::string_view(e.name).substr(5));
      call.what.type = element_type_of(first_type(e.input_types));
      if (const auto dims = first_dims(e.input_dims); dims && call.what.type.bytes > 0) {
        if (const std::int64_t elements = product(*dims); elements > 0)
          call.what.bytes = elements * call.what.type.bytes;
      }
      // Among annotations, only those that were made from NCCL's NVTX ranges have these fields.
      if (e.in_elements > 0 || !e.group_name.empty()) describe(e, call.what);
      annotated_.push_back(std::move(call));
      return counts.use("annotation of a collective");
    }
    if (e.name.starts_with("Optimizer.step")) {
      optimizer_.push_back(range_of(e));
      return counts.use("optimizer step");
    }
    if (e.name.starts_with("DistributedDataParallel.forward")) {
      run_.is_ddp = true;
      return counts.use("forward pass of DDP");
    }
    counts.ignore("other annotation");
  }

  void take_operator(const KinetoEvent& e) {
    RecordCounts& counts = run_.counts;
    const std::string_view name = e.name;
    if (name.starts_with(kEvaluate)) {
      if (full(autograd_)) return;
      const std::string_view function = name.substr(kEvaluate.size());
      if (function == kAccumulate) {
        accumulations_.push_back(range_of(e));
      } else {
        autograd_.push_back(range_of(e, text_of(function)));
      }
      return counts.use("operator of autograd");
    }
    if (name == kAccumulate) {
      if (full(gradients_)) return;
      Gradient gradient{range_of(e)};
      if (const auto dims = first_dims(e.input_dims)) {
        gradient.shape = *dims;
        gradient.elements = product(*dims);
      }
      gradient.type = element_type_of(first_type(e.input_types));
      gradients_.push_back(std::move(gradient));
      return counts.use("gradient");
    }
    if (name == "aten::clone") {
      if (full(clones_)) return;
      clones_.push_back(range_of(e));
      return;  // count_copies() counts these events
    }
    if (name == "record_param_comms") {
      if (full(calls_)) return;
      if (e.collective == "wait" || e.collective == "init") return counts.ignore("wait or init");
      // Before PyTorch 2.1, the call has no metadata. The annotation inside the call has some of
      // it.
      Call call{range_of(e), e.external_id, {}};
      call.what.kind = measured_kind_of(e.collective);
      describe(e, call.what);
      calls_.push_back(std::move(call));
      return counts.use("call of a collective");
    }
    counts.ignore("other operator");
  }

  // ------------------------------------------------------------------------------ what it comes to

  Expected<void> join() {
    place_rank();
    if (!rank_problem_.empty())
      return tl::make_unexpected(Error::request({ProblemCode::kDuplicate, "distributedInfo.rank"},
                                                rank_problem_, {name_, 0, 0}));
    shift_base();
    sort_all();
    join_launches();
    join_calls();
    make_steps();
    list_kernels_by_step();
    for (std::size_t s = 0; s < rank_.steps.size(); ++s) fill_step(s);
    make_compute();
    // If the trace does not contain the launches of kernels, the calls to which kernels belong are
    // unknown, too.
    for (MeasuredCollective& c : collectives_) rank_.collectives.push_back(std::move(c));
    std::sort(rank_.collectives.begin(), rank_.collectives.end(),
              [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
    if (rank_.compute.empty() && rank_.collectives.empty())
      run_.notes.push_back(fmt::format(
          "{}: this trace has no GPU kernel; profile with ProfilerActivity.CUDA", name_));
    run_.ranks.push_back(std::move(rank_));
    return {};
  }

  void place_rank() {
    rank_.rank = header_.rank;
    if (rank_.rank < 0 && run_.ranks.empty()) rank_.rank = 0;
    if (rank_.rank < 0) {
      rank_.rank = run_.ranks.back().rank + 1;
      run_.notes.push_back(fmt::format("{}: this trace does not state its rank; assumed: rank {}",
                                       name_, rank_.rank));
    }
    for (const MeasuredRank& other : run_.ranks) {
      if (other.rank == rank_.rank)
        rank_problem_ =
            fmt::format("two traces are of rank {}; give one trace per rank", rank_.rank);
    }
    run_.world_size = std::max(run_.world_size, header_.world_size);
    run_.is_rocm = run_.is_rocm || header_.is_rocm;
    if (run_.nccl_version.empty()) run_.nccl_version = header_.nccl_version;
    if (!header_.devices.empty()) {
      run_.gpu = header_.devices.front().name;
      run_.gpus_per_host = std::max<std::int64_t>(
          run_.gpus_per_host, static_cast<std::int64_t>(header_.devices.size()));
    }
    const std::int64_t per_host = std::max<std::int64_t>(run_.gpus_per_host, 1);
    rank_.worker =
        static_cast<std::int32_t>(std::min<std::int64_t>(rank_.rank / per_host, 1 << 24));
    rank_.device = static_cast<std::int32_t>(rank_.rank % per_host);
  }

  /// Adds the base time of the trace to all its times, because the traces of one host's ranks have
  /// different base times.
  void shift_base() {
    const std::int64_t base = header_.base_ns;
    if (base == 0) return;
    const auto shift = [base](std::int64_t& t) { t += base; };
    const auto shift_ranges = [&shift](std::vector<HostRange>& ranges) {
      for (HostRange& r : ranges) shift(r.start), shift(r.end);
    };
    for (Kernel& k : kernels_) shift(k.start), shift(k.end);
    for (Launch& l : launches_) shift(l.start);
    for (HostStep& s : steps_) shift(s.start), shift(s.end);
    for (Gradient& g : gradients_) shift(g.range.start), shift(g.range.end);
    for (auto* calls : {&calls_, &annotated_}) {
      for (Call& c : *calls) shift(c.range.start), shift(c.range.end);
    }
    for (MeasuredCollective& c : collectives_) shift(c.start_ns), shift(c.end_ns);
    for (Allocation& a : allocations_) shift(a.time);
    shift_ranges(optimizer_), shift_ranges(autograd_), shift_ranges(accumulations_);
    shift_ranges(clones_);
  }

  void sort_all() {
    const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
    const auto by_range = [](const auto& a, const auto& b) {
      return a.range.start < b.range.start;
    };
    std::stable_sort(kernels_.begin(), kernels_.end(), by_start);
    std::stable_sort(steps_.begin(), steps_.end(), by_start);
    std::stable_sort(allocations_.begin(), allocations_.end(),
                     [](const Allocation& a, const Allocation& b) { return a.time < b.time; });
    for (auto* ranges : {&optimizer_, &autograd_, &accumulations_, &clones_})
      std::stable_sort(ranges->begin(), ranges->end(), by_start);
    std::stable_sort(gradients_.begin(), gradients_.end(), by_range);
    std::stable_sort(calls_.begin(), calls_.end(), by_range);
    std::stable_sort(annotated_.begin(), annotated_.end(), by_range);
    std::sort(launches_.begin(), launches_.end(), [](const Launch& a, const Launch& b) {
      return std::pair(a.correlation, a.start) < std::pair(b.correlation, b.start);
    });
  }

  void join_launches() {
    std::int64_t without = 0;
    for (Kernel& k : kernels_) {
      const auto launch =
          std::lower_bound(launches_.begin(), launches_.end(), k.correlation,
                           [](const Launch& l, std::int64_t c) { return l.correlation < c; });
      if (k.correlation < 0 || launch == launches_.end() || launch->correlation != k.correlation) {
        ++without;
        continue;
      }
      k.launched = launch->start;
      k.thread = launch->thread;
    }
    if (without > 0)
      run_.counts.incomplete("a kernel or copy that was launched before the trace began", without);
    std::vector<Launch>().swap(launches_);
  }

  /// Returns the latest call on `thread` that was in progress at `time`; null if there is none.
  /// Calls of one thread do not overlap unless they are nested.
  static Call* call_at(std::vector<Call>& calls, std::int64_t time, std::int32_t thread) {
    auto behind = std::upper_bound(calls.begin(), calls.end(), time,
                                   [](std::int64_t t, const Call& c) { return t < c.range.start; });
    for (int looked = 0; behind != calls.begin() && looked < 8; ++looked) {
      --behind;
      if (behind->range.thread == thread && behind->range.end >= time) return &*behind;
    }
    return nullptr;
  }

  /// The copy that the host made before a call of a collective.
  struct CopyBefore {
    std::int64_t bytes = -1;    ///< size of the memory that was allocated for the copy; -1: unknown
    std::int64_t since_ns = 0;  ///< time from the end of the copy to the call
  };
  /// Returns the last copy on the thread of a call. Compiled code makes a copy of each gradient,
  /// and reduces the copy in place.
  [[nodiscard]] CopyBefore copy_before(const HostRange& call) const {
    auto clone = std::upper_bound(clones_.begin(), clones_.end(), call.start,
                                  [](std::int64_t t, const HostRange& r) { return t < r.start; });
    for (int looked = 0; clone != clones_.begin() && looked < 4; ++looked) {
      --clone;
      if (clone->thread != call.thread) continue;
      if (clone->end > call.start) return {};
      std::int64_t bytes = -1;
      auto a = std::lower_bound(allocations_.begin(), allocations_.end(), clone->start,
                                [](const Allocation& x, std::int64_t t) { return x.time < t; });
      for (; a != allocations_.end() && a->time <= clone->end; ++a) {
        if (a->thread != call.thread) continue;
        if (bytes >= 0) return {};
        bytes = a->bytes;
      }
      return {bytes, call.start - clone->end};
    }
    return {};
  }

  /// Determines the sizes of all-reduces by the memory of the copies that are reduced. The sizes
  /// are used only if every all-reduce without a size follows such a copy, and nearly all of them
  /// follow it immediately. In other programs, copies have nothing to do with all-reduces.
  /// Returns true if they are used.
  bool sizes_from_copies() {
    constexpr std::int64_t kImmediately = 200'000;  // ns
    constexpr double kNearlyAll = 0.9;
    if (clones_.empty() || allocations_.empty()) return false;
    std::vector<std::pair<Call*, std::int64_t>> sizes;
    std::size_t immediate = 0;
    for (Call& call : calls_) {
      if (call.what.kind != MeasuredKind::kAllReduce || call.what.bytes > 0) continue;
      const CopyBefore copy = copy_before(call.range);
      if (copy.bytes < 0) return false;
      if (copy.since_ns <= kImmediately) ++immediate;
      sizes.emplace_back(&call, copy.bytes);
    }
    if (sizes.empty()) return false;
    if (static_cast<double>(immediate) < kNearlyAll * static_cast<double>(sizes.size()))
      return false;
    for (const auto& [call, bytes] : sizes) call->what.bytes = bytes;
    run_.notes.push_back(
        fmt::format("{}: the trace does not state the sizes of {} all-reduces; assumed: the sizes "
                    "of the memory that was allocated for their buffers, which PyTorch rounds up "
                    "to multiples of 512 bytes",
                    name_, sizes.size()));
    return true;
  }

  /// Counts copies and allocations, which are used for the sizes of all-reduces only.
  void count_copies(bool used) {
    const auto count = [&](std::size_t records, const char* use, const char* ignore) {
      if (records > 0 && used) run_.counts.use(use, static_cast<std::int64_t>(records));
      for (std::size_t i = 0; i < records && !used; ++i) run_.counts.ignore(ignore);
    };
    count(clones_.size(), "copy of a tensor", "other operator");
    count(allocations_.size(), "allocation on the GPU", "instant or counter");
  }

  void join_calls() {
    // In older releases of PyTorch, calls have no metadata. Take the shapes from the annotation
    // inside the call, if they were recorded.
    for (Call& call : calls_) {
      if (call.what.kind != MeasuredKind::kOther && call.what.bytes > 0) continue;
      const auto inside =
          std::lower_bound(annotated_.begin(), annotated_.end(), call.range.start,
                           [](const Call& c, std::int64_t t) { return c.range.start < t; });
      if (inside == annotated_.end() || inside->range.start > call.range.end ||
          inside->range.thread != call.range.thread)
        continue;
      if (call.what.kind == MeasuredKind::kOther) call.what.kind = inside->what.kind;
      if (call.what.bytes < 0)
        call.what.bytes = inside->what.bytes, call.what.type = inside->what.type;
    }
    count_copies(sizes_from_copies());
    std::unordered_map<std::int64_t, std::size_t> by_external;
    for (std::size_t c = 0; c < calls_.size(); ++c) {
      if (calls_[c].external >= 0) by_external.emplace(calls_[c].external, c);
    }
    for (Kernel& k : kernels_) {
      if (k.collective < 0) continue;
      MeasuredCollective& c = collectives_[k.collective];
      c.issued_ns = k.launched;
      const Call* call = nullptr;
      if (k.launched >= 0) {
        call = call_at(calls_, k.launched, k.thread);
        if (call == nullptr) call = call_at(annotated_, k.launched, k.thread);
        if (call == nullptr) {
          if (const auto known = by_external.find(k.external); known != by_external.end())
            call = &calls_[known->second];
        }
      }
      if (call == nullptr) {
        if (c.bytes < 0) run_.counts.incomplete("NCCL kernel without a size");
        continue;
      }
      if (c.kind == MeasuredKind::kOther) c.kind = call->what.kind;
      if (c.bytes < 0) {
        c.bytes = call->what.bytes;
        if (!call->what.type.name.empty()) c.type = call->what.type;
      }
      if (c.group < 0) c.group = call->what.group;
      if (c.sequence < 0) c.sequence = call->what.sequence;
      if (c.bytes < 0) run_.counts.incomplete("NCCL kernel without a size");
    }
  }

  void make_steps() {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(),
                 last = std::numeric_limits<std::int64_t>::min();
    for (const Kernel& k : kernels_) first = std::min(first, k.start), last = std::max(last, k.end);
    for (const HostRange& r : autograd_)
      first = std::min(first, r.start), last = std::max(last, r.end);
    // The annotations of a step may occur on two threads: on the thread that calls the profiler's
    // step(), and on a profiled thread. Keep only one for each step number.
    steps_.erase(
        std::unique(steps_.begin(), steps_.end(),
                    [](const HostStep& a, const HostStep& b) { return a.number == b.number; }),
        steps_.end());
    if (steps_.empty() && first < last) {
      steps_.push_back({0, first, last});
      run_.notes.push_back(fmt::format(
          "{}: this trace marks no steps, so it is read as one step; mark steps with {}", name_,
          run_.format == "Nsight Systems" ? "NVTX ranges \"step 0\", \"step 1\", …"
                                          : "prof.step()"));
    }
    std::vector<std::int64_t> gpu_end(steps_.size(), std::numeric_limits<std::int64_t>::min());
    std::vector<std::int64_t> gpu_start(steps_.size(), std::numeric_limits<std::int64_t>::max());
    step_of_kernel_.assign(kernels_.size(), -1);
    std::int64_t unplaced_end = std::numeric_limits<std::int64_t>::min();
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      const std::int32_t s = step_at(kernels_[k].launched >= 0 ? kernels_[k].launched : -1);
      step_of_kernel_[k] = s;
      if (s < 0) continue;
      gpu_end[s] = std::max(gpu_end[s], kernels_[k].end);
      gpu_start[s] = std::min(gpu_start[s], kernels_[k].start);
    }
    // If the trace has no launches, each kernel is assigned to the step in which it runs.
    if (std::all_of(kernels_.begin(), kernels_.end(),
                    [](const Kernel& k) { return k.launched < 0; })) {
      for (std::size_t k = 0; k < kernels_.size(); ++k) {
        const std::int32_t s = step_at(kernels_[k].start);
        step_of_kernel_[k] = s;
        if (s >= 0) gpu_end[s] = std::max(gpu_end[s], kernels_[k].end);
      }
    }
    for (std::size_t k = 0; k < kernels_.size() && !steps_.empty(); ++k) {
      if (step_of_kernel_[k] < 0 && kernels_[k].start < gpu_start[0])
        unplaced_end = std::max(unplaced_end, kernels_[k].end);
    }
    std::int64_t before = 0;
    bool ahead = false;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      MeasuredStep step;
      step.number = steps_[s].number;
      step.host_ns = steps_[s].end - steps_[s].start;
      step.start_ns = s == 0 ? std::max(steps_[s].start, unplaced_end) : before;
      step.end_ns = std::max({steps_[s].end, gpu_end[s], step.start_ns});
      ahead = ahead || gpu_end[s] > steps_[s].end;
      before = step.end_ns;
      rank_.steps.push_back(std::move(step));
    }
    if (ahead)
      run_.notes.push_back(
          fmt::format("{}: the host runs ahead of the GPU, so the end of a step is the end of its "
                      "last kernel, not of its ProfilerStep",
                      name_));
  }

  /// Returns the training step that the host executed at `time`; -1 if there is none.
  [[nodiscard]] std::int32_t step_at(std::int64_t time) const {
    const auto behind =
        std::upper_bound(steps_.begin(), steps_.end(), time,
                         [](std::int64_t t, const HostStep& s) { return t < s.start; });
    if (behind == steps_.begin()) return -1;
    const auto s = behind - steps_.begin() - 1;
    // A kernel that is launched after the annotation of one step and before that of the next
    // belongs to the earlier step.
    const bool last = behind == steps_.end();
    return last && time > steps_[s].end ? -1 : static_cast<std::int32_t>(s);
  }
  /// Returns the time at which the host stops issuing work for step `s`.
  [[nodiscard]] std::int64_t host_end(std::size_t s) const {
    return s + 1 < steps_.size() ? steps_[s + 1].start : steps_[s].end;
  }

  void list_kernels_by_step() {
    first_of_step_.assign(rank_.steps.size() + 1, 0);
    for (const std::int32_t s : step_of_kernel_) {
      if (s >= 0) ++first_of_step_[static_cast<std::size_t>(s) + 1];
    }
    for (std::size_t s = 1; s < first_of_step_.size(); ++s)
      first_of_step_[s] += first_of_step_[s - 1];
    by_step_.resize(first_of_step_.back());
    std::vector<std::size_t> next(first_of_step_.begin(), first_of_step_.end());
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      if (step_of_kernel_[k] >= 0) by_step_[next[step_of_kernel_[k]]++] = k;
    }
  }
  /// Returns the indices of a step's kernels, sorted by start time.
  [[nodiscard]] std::span<const std::size_t> kernels_of(std::size_t s) const {
    return std::span(by_step_).subspan(first_of_step_[s],
                                       first_of_step_[s + 1] - first_of_step_[s]);
  }

  /// Determines the gradients, layers and packs of training step `s`.
  void fill_step(std::size_t s) {
    MeasuredStep& step = rank_.steps[s];
    const std::int64_t from = steps_[s].start, to = host_end(s);
    const auto in_step = [from, to](const auto& list, auto time_of) {
      const auto begin =
          std::lower_bound(list.begin(), list.end(), from,
                           [&](const auto& item, std::int64_t t) { return time_of(item) < t; });
      const auto end =
          std::lower_bound(begin, list.end(), to,
                           [&](const auto& item, std::int64_t t) { return time_of(item) < t; });
      return std::pair(begin, end);
    };
    const auto start_of = [](const auto& r) { return r.start; };
    const auto [ops, ops_end] = in_step(autograd_, start_of);
    const auto [grads, grads_end] =
        in_step(gradients_, [](const Gradient& g) { return g.range.start; });
    if (ops == ops_end && grads == grads_end) return;
    std::int32_t thread = ops != ops_end ? ops->thread : grads->range.thread;
    backward_thread_.resize(rank_.steps.size(), -1);
    backward_host_.resize(rank_.steps.size(), 0);
    backward_thread_[s] = thread;
    backward_host_[s] = ops != ops_end ? ops->start : grads->range.start;
    // Each pair contains the time of a launch, and the time at which all kernels that were launched
    // until then have ended on the GPU.
    std::vector<std::pair<std::int64_t, std::int64_t>> launched;
    for (const std::size_t k : kernels_of(s)) {
      const Kernel& kernel = kernels_[k];
      if (kernel.collective >= 0 || kernel.launched < 0) continue;
      if (kernel.thread != thread || kernel.launched < backward_host_[s]) continue;
      launched.emplace_back(kernel.launched, kernel.end);
      step.backward_ns =
          step.backward_ns < 0 ? kernel.start : std::min(step.backward_ns, kernel.start);
    }
    std::sort(launched.begin(), launched.end());
    for (std::size_t i = 1; i < launched.size(); ++i)
      launched[i].second = std::max(launched[i].second, launched[i - 1].second);
    const auto through = [&](std::int64_t host) {
      const auto behind =
          std::upper_bound(launched.begin(), launched.end(), std::pair(host, std::int64_t{-1}),
                           [](const auto& a, const auto& b) { return a.first < b.first; });
      return behind == launched.begin() ? host : std::prev(behind)->second;
    };
    if (step.backward_ns < 0) step.backward_ns = backward_host_[s];
    step.backward_end_ns = launched.empty()
                               ? ops == ops_end ? step.backward_ns : std::prev(ops_end)->end
                               : launched.back().second;
    auto op = ops;
    std::int32_t layer = -1;
    for (auto g = grads; g != grads_end; ++g) {
      std::int32_t name = -1;
      for (; op != ops_end && op->start < g->range.start; ++op) name = op->text;
      if (layer < 0 || name >= 0) {
        ++layer;
        step.layers.push_back(layer_name(name, layer));
      }
      step.gradients.push_back(
          {"", through(g->range.end), g->elements, g->type, g->shape, layer, -1});
      // Gradients become ready in this order, because the kernels of one stream end in the order of
      // their launches.
      if (step.gradients.size() > 1)
        step.gradients.back().ready_ns = std::max(
            step.gradients.back().ready_ns, step.gradients[step.gradients.size() - 2].ready_ns);
    }
    fill_packs(s, grads, grads_end, thread);
    if (packs_inside_functions(s, thread)) {
      // A compiled backward pass issues one all-reduce for each gradient itself, and returns all
      // gradients at its end. Therefore each all-reduce becomes a pack and a layer.
      step.layers.clear();
      std::int32_t g = 0;
      for (const MeasuredCollective* c : of_step_) {
        MeasuredGradient& gradient = step.gradients[g];
        gradient.ready_ns = through(c->issued_ns);
        if (g > 0)
          gradient.ready_ns =
              std::max(gradient.ready_ns, step.gradients[static_cast<std::size_t>(g) - 1].ready_ns);
        gradient.layer = gradient.pack = g;
        // The gradient's name is unknown, because gradients are returned in another order than that
        // of their all-reduces. Only its size is known.
        gradient.elements = c->bytes > 0 && c->type.bytes > 0 ? c->bytes / c->type.bytes : -1;
        gradient.shape.clear();
        if (gradient.elements > 0) gradient.shape = {gradient.elements};
        gradient.type = c->type;
        step.layers.push_back(layer_name(-1, g++));
      }
    }
  }

  /// Handles a step in which the backward pass itself issues one all-reduce per gradient, instead
  /// of the gradients' hooks: finds the packs of such a step. Returns false for all other steps.
  bool packs_inside_functions(std::size_t s, std::int32_t thread) {
    if (!of_step_.empty()) return false;
    for (const std::size_t k : kernels_of(s)) {
      const Kernel& kernel = kernels_[k];
      if (kernel.collective < 0 || kernel.thread != thread || kernel.launched < backward_host_[s])
        continue;
      MeasuredCollective& c = collectives_[kernel.collective];
      if (c.kind == MeasuredKind::kAllReduce) of_step_.push_back(&c);
    }
    if (of_step_.empty() || of_step_.size() != rank_.steps[s].gradients.size()) return false;
    std::stable_sort(of_step_.begin(), of_step_.end(),
                     [](const auto* a, const auto* b) { return a->issued_ns < b->issued_ns; });
    for (std::size_t p = 0; p < of_step_.size(); ++p)
      of_step_[p]->pack = static_cast<std::int32_t>(p);
    return true;
  }

  std::string layer_name(std::int32_t text, std::int32_t layer) const {
    std::string name = text >= 0 ? names_[text] : "layer";
    // The name of the layer is the part before "Backward": "Convolution" for
    // "ConvolutionBackward0".
    if (const std::size_t backward = name.rfind("Backward");
        backward != std::string::npos && backward > 0)
      name.resize(backward);
    std::string plain;
    for (const char c : name) plain += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
    return fmt::format("{}_{}", plain, layer);
  }

  template <class It>
  void fill_packs(std::size_t s, It grads, It grads_end, std::int32_t thread) {
    MeasuredStep& step = rank_.steps[s];
    std::int32_t packs = 0;
    std::vector<MeasuredCollective*>& of_step = of_step_;
    of_step.clear();
    for (const std::size_t k : kernels_of(s)) {
      const Kernel& kernel = kernels_[k];
      if (kernel.collective < 0) continue;
      MeasuredCollective& c = collectives_[kernel.collective];
      c.step = static_cast<std::int32_t>(s);
      if (c.kind == MeasuredKind::kAllReduce && kernel.thread == thread &&
          inside_accumulation(kernel.launched, thread))
        of_step.push_back(&c);
    }
    std::stable_sort(of_step.begin(), of_step.end(),
                     [](const auto* a, const auto* b) { return a->issued_ns < b->issued_ns; });
    std::size_t next = 0;
    for (MeasuredCollective* c : of_step) {
      c->pack = packs;
      // A pack consists of all gradients that were ready when the pack was issued, except those of
      // earlier packs.
      for (auto g = grads + static_cast<std::ptrdiff_t>(next);
           g != grads_end && g->range.start < c->issued_ns; ++g)
        step.gradients[next++].pack = packs;
      ++packs;
    }
  }

  [[nodiscard]] bool inside_accumulation(std::int64_t time, std::int32_t thread) const {
    auto behind = std::upper_bound(accumulations_.begin(), accumulations_.end(), time,
                                   [](std::int64_t t, const HostRange& r) { return t < r.start; });
    for (int looked = 0; behind != accumulations_.begin() && looked < 4; ++looked) {
      --behind;
      if (behind->thread == thread && behind->end >= time) return true;
    }
    return false;
  }

  void make_compute() {
    backward_thread_.resize(rank_.steps.size(), -1);
    backward_host_.resize(rank_.steps.size(), 0);
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      const Kernel& kernel = kernels_[k];
      if (kernel.collective >= 0 || step_of_kernel_[k] < 0) continue;
      const auto s = static_cast<std::size_t>(step_of_kernel_[k]);
      MeasuredCompute span{kernel.start, kernel.end, static_cast<std::int32_t>(s), -1,
                           MeasuredPhase::kForward};
      const bool known = kernel.launched >= 0 && backward_thread_[s] >= 0;
      if (known && kernel.thread == backward_thread_[s] && kernel.launched >= backward_host_[s]) {
        span.phase = MeasuredPhase::kBackward;
        // The kernel belongs to the layer of the first gradient that became ready at or after the
        // end of the kernel.
        const auto& gradients = rank_.steps[s].gradients;
        const auto next = std::lower_bound(
            gradients.begin(), gradients.end(), kernel.end,
            [](const MeasuredGradient& g, std::int64_t t) { return g.ready_ns < t; });
        if (next != gradients.end()) span.layer = next->layer;
        // Kernels after the last gradient copy gradients out of buckets. Such kernels belong to no
        // layer.
        else if (!gradients.empty())
          span.phase = MeasuredPhase::kUpdate;
      } else if (known && kernel.launched >= backward_host_[s]) {
        span.phase = MeasuredPhase::kUpdate;
      } else if (in_optimizer(kernel.launched)) {
        span.phase = MeasuredPhase::kUpdate;
      }
      rank_.compute.push_back(span);
    }
    std::vector<Kernel>().swap(kernels_);
  }
  [[nodiscard]] bool in_optimizer(std::int64_t time) const {
    const auto behind =
        std::upper_bound(optimizer_.begin(), optimizer_.end(), time,
                         [](std::int64_t t, const HostRange& r) { return t < r.start; });
    return behind != optimizer_.begin() && std::prev(behind)->end >= time;
  }

  struct HostStep {
    std::int64_t number = 0, start = 0, end = 0;
  };
  struct Gradient {
    HostRange range;
    std::int64_t elements = -1;
    ElementType type = {};
    std::vector<std::int64_t> shape = {};
  };

  MeasuredRun& run_;
  std::string name_;
  KinetoHeader header_;
  MeasuredRank rank_;
  std::string rank_problem_;
  bool too_many_ = false;
  std::string key_;
  std::map<std::string, std::int32_t, std::less<>> threads_, texts_;
  std::vector<std::string> names_;
  std::vector<Kernel> kernels_;
  std::vector<Launch> launches_;
  std::vector<HostStep> steps_;
  std::vector<HostRange> optimizer_, autograd_, accumulations_, clones_;
  std::vector<Allocation> allocations_;
  std::vector<Gradient> gradients_;
  std::vector<Call> calls_, annotated_;
  std::vector<MeasuredCollective> collectives_;
  std::vector<std::int32_t> step_of_kernel_;
  std::vector<std::size_t> by_step_, first_of_step_;
  std::vector<MeasuredCollective*> of_step_;  ///< the gradient all-reduces of the current step,
                                              ///< indexed by pack
  std::vector<std::int32_t> backward_thread_;
  std::vector<std::int64_t> backward_host_;
};

RankTrace::RankTrace(MeasuredRun& run, std::string name)
    : events_(std::make_unique<Events>(run, std::move(name))) {}
RankTrace::RankTrace(RankTrace&&) noexcept = default;
RankTrace::~RankTrace() = default;
void RankTrace::take(const KinetoEvent& event) { events_->take(event); }
Expected<void> RankTrace::finish(KinetoHeader header) { return events_->finish(std::move(header)); }

Expected<void> import_kineto(ByteInput& input, const std::string& name, MeasuredRun& run,
                             const std::function<void(double)>& progress) {
  RankTrace trace(run, name);
  const TakeKinetoEvent take = [&trace](const KinetoEvent& event) { trace.take(event); };
  auto header = read_kineto(input, name, take, run.counts, progress);
  if (!header) return tl::make_unexpected(header.error());
  run.format = "PyTorch profiler";
  run.framework = "PyTorch";
  run.files.push_back(name);
  return trace.finish(std::move(*header));
}

}  // namespace tutti::core
