// Joins the events of a rank: kernels with their launches, and kernels of NCCL with the calls that
// issued them.

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "core/base/number.h"
#include "core/formats/kineto.h"
#include "core/import/kineto_events.h"

namespace tutti::core {

Expected<void> RankTrace::Events::join() {
  place_rank();
  if (!rank_problem_.empty())
    return tl::make_unexpected(Error::request({ProblemCode::kDuplicate, "distributedInfo.rank"},
                                              rank_problem_, {name_, 0, 0}));
  shift_base();
  sort_all();
  join_launches();
  join_calls();
  count_kernels();
  make_steps();
  list_kernels_by_step();
  for (std::size_t s = 0; s < rank_.steps.size(); ++s) fill_step(s);
  make_compute();
  // If the trace does not contain the launches of kernels, the calls to which kernels belong are
  // unknown, too.
  for (MeasuredCollective& c : collectives_) rank_.collectives.push_back(std::move(c));
  std::sort(rank_.collectives.begin(), rank_.collectives.end(),
            [](const auto& a, const auto& b) { return a.start_ns < b.start_ns; });
  const bool is_mtia = run_.counts.ignored().contains("mtia_ccp_events");
  if (rank_.compute.empty() && rank_.collectives.empty())
    run_.notes.push_back(
        fmt::format("{}: this trace has no GPU kernel; {}", name_,
                    is_mtia ? "its kernels are of MTIA devices, which Tutti does not read"
                            : "profile with ProfilerActivity.CUDA (of Intel's GPUs: XPU)"));
  run_.ranks.push_back(std::move(rank_));
  return {};
}

void RankTrace::Events::place_rank() {
  rank_.rank = header_.rank;
  if (rank_.rank < 0) rank_.rank = rank_in_name();
  if (rank_.rank < 0 && run_.ranks.empty()) rank_.rank = 0;
  if (rank_.rank < 0) {
    rank_.rank = run_.ranks.back().rank + 1;
    run_.notes.push_back(
        fmt::format("{}: this trace does not state its rank; assumed: rank {}", name_, rank_.rank));
  }
  for (const MeasuredRank& other : run_.ranks) {
    if (other.rank == rank_.rank)
      rank_problem_ = fmt::format("two traces state rank {}; give one trace per rank", rank_.rank);
  }
  if (run_.world_size > 0 && header_.world_size > 0 && run_.world_size != header_.world_size)
    run_.notes.push_back(
        fmt::format("{}: this trace comes from a run of {} ranks, but the previous trace comes "
                    "from a run of {}; all files of one command must come from the same run",
                    name_, header_.world_size, run_.world_size));
  if (!run_.gpu.empty() && !header_.devices.empty() && run_.gpu != header_.devices.front().name)
    run_.notes.push_back(
        fmt::format("{}: this trace was recorded on {}, but the previous trace on {}; all files of "
                    "one command must come from the same run",
                    name_, header_.devices.front().name, run_.gpu));
  run_.world_size = std::max(run_.world_size, header_.world_size);
  run_.is_rocm = run_.is_rocm || header_.is_rocm;
  if (run_.nccl_version.empty()) run_.nccl_version = header_.nccl_version;
  if (!header_.devices.empty()) {
    run_.gpu = header_.devices.front().name;
    run_.gpus_per_host = std::max<std::int64_t>(run_.gpus_per_host,
                                                static_cast<std::int64_t>(header_.devices.size()));
  }
  const std::int64_t per_host = std::max<std::int64_t>(run_.gpus_per_host, 1);
  rank_.worker = static_cast<std::int32_t>(std::min<std::int64_t>(rank_.rank / per_host, 1 << 24));
  rank_.device = static_cast<std::int32_t>(rank_.rank % per_host);
}

std::int64_t RankTrace::Events::rank_in_name() const {
  const std::size_t slash = name_.rfind('/');
  const std::string_view file =
      std::string_view(name_).substr(slash == std::string::npos ? 0 : slash + 1);
  std::size_t at = file.rfind("rank");
  if (at == std::string_view::npos) return -1;
  at = file.find_first_not_of("_-.", at + 4);
  if (at == std::string_view::npos) return -1;
  const std::size_t end = std::min(file.find_first_not_of("0123456789", at), file.size());
  const auto number = whole_number<std::int64_t>(file.substr(at, end - at));
  const bool is_taken =
      number && std::any_of(run_.ranks.begin(), run_.ranks.end(),
                            [&](const MeasuredRank& other) { return other.rank == *number; });
  return number && *number < 1 << 24 && !is_taken ? *number : -1;
}

void RankTrace::Events::shift_base() {
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

void RankTrace::Events::sort_all() {
  const auto by_start = [](const auto& a, const auto& b) { return a.start < b.start; };
  const auto by_range = [](const auto& a, const auto& b) { return a.range.start < b.range.start; };
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

void RankTrace::Events::join_launches() {
  for (Kernel& k : kernels_) {
    const auto launch =
        std::lower_bound(launches_.begin(), launches_.end(), k.correlation,
                         [](const Launch& l, std::int64_t c) { return l.correlation < c; });
    if (k.correlation < 0 || launch == launches_.end() || launch->correlation != k.correlation)
      continue;
    k.launched = launch->start;
    k.thread = launch->thread;
  }
  if (!launches_.empty()) first_correlation_ = launches_.front().correlation;
  std::vector<Launch>().swap(launches_);
}

RankTrace::Events::Call* RankTrace::Events::call_at(std::vector<Call>& calls, std::int64_t time,
                                                    std::int32_t thread) {
  auto behind = std::upper_bound(calls.begin(), calls.end(), time,
                                 [](std::int64_t t, const Call& c) { return t < c.range.start; });
  for (int looked = 0; behind != calls.begin() && looked < 8; ++looked) {
    --behind;
    if (behind->range.thread == thread && behind->range.end >= time) return &*behind;
  }
  return nullptr;
}

RankTrace::Events::CopyBefore RankTrace::Events::copy_before(const HostRange& call) const {
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

bool RankTrace::Events::sizes_from_copies() {
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
  if (static_cast<double>(immediate) < kNearlyAll * static_cast<double>(sizes.size())) return false;
  for (const auto& [call, bytes] : sizes) call->what.bytes = bytes;
  run_.notes.push_back(
      fmt::format("{}: the trace does not state the sizes of {} all-reduces; assumed: the sizes "
                  "of the memory that was allocated for their buffers, which PyTorch rounds up "
                  "to multiples of 512 bytes",
                  name_, sizes.size()));
  return true;
}

void RankTrace::Events::count_copies(bool used) {
  const auto count = [&](std::size_t records, const char* use, const char* ignore) {
    if (records > 0 && used) run_.counts.use(use, static_cast<std::int64_t>(records));
    for (std::size_t i = 0; i < records && !used; ++i) run_.counts.ignore(ignore);
  };
  count(clones_.size(), "copy of a tensor", "other operator");
  count(allocations_.size(), "allocation on the GPU", "instant or counter");
}

void RankTrace::Events::join_calls() {
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
    if (call == nullptr) continue;
    if (c.kind == MeasuredKind::kOther) c.kind = call->what.kind;
    if (c.bytes < 0) {
      c.bytes = call->what.bytes;
      if (!call->what.type.name.empty()) c.type = call->what.type;
    }
    if (c.group < 0) c.group = call->what.group;
    if (c.sequence < 0) c.sequence = call->what.sequence;
  }
}

void RankTrace::Events::count_kernels() {
  for (const Kernel& k : kernels_) {
    const bool is_unplaced = k.launched < 0 && first_correlation_.has_value();
    if (is_unplaced && k.correlation >= 0 && k.correlation < *first_correlation_)
      run_.counts.ignore("kernel or copy that was launched before the trace began");
    else if (is_unplaced)
      run_.counts.incomplete("kernel or copy without its launch");
    else if (k.collective >= 0 && collectives_[k.collective].bytes < 0)
      run_.counts.incomplete("NCCL kernel without a size");
    else
      run_.counts.use(k.is_copy           ? "copy on the GPU"
                      : k.collective >= 0 ? "kernel of NCCL"
                                          : "kernel");
  }
}

}  // namespace tutti::core
