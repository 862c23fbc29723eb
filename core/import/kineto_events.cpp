// Records the events of a rank: which events an import needs, and which of their fields.

#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/formats/kineto.h"
#include "core/import/kineto_events.h"
#include "core/import/kineto_fields.h"

namespace tutti::core {
namespace {

constexpr std::size_t kMaxRecords = 40'000'000;
constexpr std::string_view kEvaluate = "autograd::engine::evaluate_function: ";
constexpr std::string_view kAccumulate = "torch::autograd::AccumulateGrad";

}  // namespace

template <class T>
bool RankTrace::Events::full(const std::vector<T>& list) {
  too_many_ = too_many_ || list.size() >= kMaxRecords;
  return too_many_;
}

Expected<void> RankTrace::Events::finish(KinetoHeader header) {
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

std::int32_t RankTrace::Events::thread_of(const KinetoEvent& e) {
  key_.assign(e.pid).append("\x1f").append(e.tid);
  const auto known = threads_.find(key_);
  if (known != threads_.end()) return known->second;
  constexpr std::size_t kMaxThreads = 1 << 16;
  if (threads_.size() >= kMaxThreads) return -1;
  return threads_[key_] = static_cast<std::int32_t>(threads_.size());
}

std::int32_t RankTrace::Events::text_of(std::string_view text) {
  const auto known = texts_.find(text);
  if (known != texts_.end()) return known->second;
  constexpr std::size_t kMaxTexts = 1 << 14;
  if (texts_.size() >= kMaxTexts) return 0;
  names_.emplace_back(text.substr(0, 200));
  const auto index = static_cast<std::int32_t>(names_.size() - 1);
  texts_.emplace(std::string(text), index);
  return index;
}

RankTrace::Events::HostRange RankTrace::Events::range_of(const KinetoEvent& e, std::int32_t text) {
  return {e.start_ns, e.start_ns + e.duration_ns, thread_of(e), text};
}

void RankTrace::Events::take(const KinetoEvent& e) {
  RecordCounts& counts = run_.counts;
  switch (e.kind) {
    case KinetoKind::kKernel: return take_kernel(e);
    case KinetoKind::kCopy:
      if (full(kernels_)) return;
      kernels_.push_back({e.start_ns, e.start_ns + e.duration_ns, e.correlation, e.external_id});
      kernels_.back().is_copy = true;
      return;  // count_kernels() counts copies and kernels
    case KinetoKind::kLaunch:
      if (e.name.find("aunch") == std::string::npos && e.name.find("emcpy") == std::string::npos &&
          e.name.find("emset") == std::string::npos &&
          e.name.find("MemFill") == std::string::npos &&
          e.name.find("USMFill") == std::string::npos)
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

void RankTrace::Events::take_kernel(const KinetoEvent& e) {
  if (full(kernels_)) return;
  kernels_.push_back({e.start_ns, e.start_ns + e.duration_ns, e.correlation, e.external_id});
  // The kernels of oneCCL have other names. PyTorch adds the metadata of a collective to all
  // kernels that the call launches, including copies, which are not kernels of the library.
  const bool is_library = !e.collective.empty() && e.name.find("ccl") != std::string::npos;
  if (!is_nccl_kernel(e.name) && !is_library) return;
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
}

void RankTrace::Events::describe(const KinetoEvent& e, MeasuredCollective& c) {
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

void RankTrace::Events::take_annotation(const KinetoEvent& e) {
  RecordCounts& counts = run_.counts;
  if (e.name.starts_with("ProfilerStep#")) {
    const auto number = whole_number<std::int64_t>(std::string_view(e.name).substr(13));
    constexpr std::size_t kMaxSteps = 1 << 20;
    if (!number || steps_.size() >= kMaxSteps) return counts.incomplete("step without a number");
    steps_.push_back({*number, e.start_ns, e.start_ns + e.duration_ns});
    return counts.use("step");
  }
  const bool is_xccl = e.name.starts_with("xccl:");  // Intel's GPUs
  if (e.name.starts_with("nccl:") || is_xccl) {
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

void RankTrace::Events::take_operator(const KinetoEvent& e) {
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

}  // namespace tutti::core
