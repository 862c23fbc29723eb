// Determines the training steps of a rank, and the gradients, layers, packs and computations of
// each step. Kernels have been joined with their launches.

#include <algorithm>
#include <cctype>
#include <limits>

#include <fmt/format.h>

#include "core/import/kineto_events.h"

namespace tutti::core {
namespace {

/// Corrects which gradients belong to which pack. The host may begin to accumulate the first
/// gradient of the next pack before it issues a pack, so times alone do not separate them. If the
/// gradients, in the order in which they become ready, can be divided into packs of exactly the
/// measured sizes, this division is used.
void fit_packs_to_sizes(std::vector<MeasuredGradient>& gradients,
                        const std::vector<MeasuredCollective*>& packs) {
  std::vector<std::size_t> ends;  // for each pack, the index after its last gradient
  std::size_t g = 0;
  for (const MeasuredCollective* pack : packs) {
    std::int64_t left = pack->bytes;
    for (; left > 0 && g < gradients.size(); ++g) {
      const std::int64_t item = gradients[g].type.bytes > 0 ? gradients[g].type.bytes : 4;
      if (gradients[g].elements <= 0 || gradients[g].elements > left / item) return;
      left -= gradients[g].elements * item;
    }
    if (left != 0) return;
    ends.push_back(g);
  }
  g = 0;
  for (std::size_t p = 0; p < ends.size(); ++p) {
    for (; g < ends[p]; ++g) gradients[g].pack = static_cast<std::int32_t>(p);
  }
  if (packs.empty()) return;
  for (; g < gradients.size(); ++g) gradients[g].pack = -1;
}

}  // namespace

void RankTrace::Events::find_unmarked_steps(std::int64_t first, std::int64_t last) {
  // The host launches the first kernels before they begin.
  for (const Kernel& k : kernels_) {
    if (k.launched >= 0) first = std::min(first, k.launched);
  }
  // A step may have several optimizers. Between two steps, there is a backward pass.
  std::vector<std::int64_t> ends;
  for (const HostRange& call : optimizer_) {
    const std::int64_t before = ends.empty() ? first : ends.back();
    if (call.end <= before) continue;  // an optimizer may call another one
    const auto backward =
        std::lower_bound(autograd_.begin(), autograd_.end(), before,
                         [](const HostRange& r, std::int64_t t) { return r.start < t; });
    const bool is_next = ends.empty() || autograd_.empty() ||
                         (backward != autograd_.end() && backward->start < call.start);
    if (is_next) ends.push_back(call.end);
    ends.back() = std::max(ends.back(), call.end);
  }
  if (ends.size() < 2) {
    steps_.push_back({0, first, last});
    run_.notes.push_back(fmt::format(
        "{}: this trace marks no steps, so it is read as one step; mark steps with {}", name_,
        run_.format == "Nsight Systems" ? "NVTX ranges \"step 0\", \"step 1\", …" : "prof.step()"));
    return;
  }
  for (const std::int64_t end : ends) {
    steps_.push_back({static_cast<std::int64_t>(steps_.size()), first, end});
    first = end;
  }
  run_.notes.push_back(fmt::format(
      "{}: this trace marks no steps; assumed: a step ends after Optimizer.step", name_));
}

void RankTrace::Events::make_steps() {
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
  const bool is_unmarked = steps_.empty() && first < last;
  if (is_unmarked) find_unmarked_steps(first, last);
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
    const std::int64_t begin = is_unmarked ? first : steps_[s].start;
    step.start_ns = s == 0 ? std::max(begin, unplaced_end) : before;
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

std::int32_t RankTrace::Events::step_at(std::int64_t time) const {
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

std::int64_t RankTrace::Events::host_end(std::size_t s) const {
  return s + 1 < steps_.size() ? steps_[s + 1].start : steps_[s].end;
}

void RankTrace::Events::list_kernels_by_step() {
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

std::span<const std::size_t> RankTrace::Events::kernels_of(std::size_t s) const {
  return std::span(by_step_).subspan(first_of_step_[s], first_of_step_[s + 1] - first_of_step_[s]);
}

void RankTrace::Events::fill_step(std::size_t s) {
  MeasuredStep& step = rank_.steps[s];
  const std::int64_t from = steps_[s].start, to = host_end(s);
  const auto in_step = [from, to](const auto& list, auto time_of) {
    const auto begin =
        std::lower_bound(list.begin(), list.end(), from,
                         [&](const auto& item, std::int64_t t) { return time_of(item) < t; });
    const auto end = std::lower_bound(
        begin, list.end(), to, [&](const auto& item, std::int64_t t) { return time_of(item) < t; });
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
      step.gradients.back().ready_ns = std::max(step.gradients.back().ready_ns,
                                                step.gradients[step.gradients.size() - 2].ready_ns);
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

bool RankTrace::Events::packs_inside_functions(std::size_t s, std::int32_t thread) {
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

std::string RankTrace::Events::layer_name(std::int32_t text, std::int32_t layer) const {
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
void RankTrace::Events::fill_packs(std::size_t s, It grads, It grads_end, std::int32_t thread) {
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
  fit_packs_to_sizes(step.gradients, of_step);
}

bool RankTrace::Events::inside_accumulation(std::int64_t time, std::int32_t thread) const {
  auto behind = std::upper_bound(accumulations_.begin(), accumulations_.end(), time,
                                 [](std::int64_t t, const HostRange& r) { return t < r.start; });
  for (int looked = 0; behind != accumulations_.begin() && looked < 4; ++looked) {
    --behind;
    if (behind->thread == thread && behind->end >= time) return true;
  }
  return false;
}

void RankTrace::Events::make_compute() {
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

bool RankTrace::Events::in_optimizer(std::int64_t time) const {
  const auto behind =
      std::upper_bound(optimizer_.begin(), optimizer_.end(), time,
                       [](std::int64_t t, const HostRange& r) { return t < r.start; });
  return behind != optimizer_.begin() && std::prev(behind)->end >= time;
}

}  // namespace tutti::core
