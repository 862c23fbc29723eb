// A trace contains many training steps. Some are unusual: they are only partly in the trace, or
// have other gradients. To exclude such steps, each step has a signature, which is its number of
// gradients and the bytes of its packs. Only steps with the most frequent signature are used. Times
// are medians over these steps on all ranks. Names and sizes are taken from the last such step, on
// the first rank that has one. The backward time of a layer begins when the last gradient of the
// previous layer is ready and ends when the layer's own last gradient is ready. Time in which only
// an exchange was in flight is excluded, because exchanges are simulated separately. Time in which
// the device idles is counted separately: in these host gaps, the host has not launched the next
// kernel. Unlike computation, host gaps do not become shorter on a faster device.

#include "core/import/step_model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/base/median.h"
#include "core/import/intervals.h"

namespace tutti::core {
namespace {

/// The number of gradients of a training step, and the bytes of each of its packs. Steps with the
/// same signature are averaged.
using Signature = std::pair<std::size_t, std::vector<std::int64_t>>;

std::vector<std::vector<const MeasuredCollective*>> packs_of_steps(const MeasuredRank& rank) {
  std::vector<std::vector<const MeasuredCollective*>> packs(rank.steps.size());
  for (const MeasuredCollective& c : rank.collectives) {
    if (c.pack < 0 || c.step < 0) continue;
    auto& of_step = packs[c.step];
    of_step.resize(std::max(of_step.size(), static_cast<std::size_t>(c.pack) + 1));
    of_step[c.pack] = &c;
  }
  return packs;
}

Signature signature_of(const MeasuredStep& step,
                       const std::vector<const MeasuredCollective*>& packs) {
  Signature signature{step.gradients.size(), {}};
  for (const MeasuredCollective* c : packs)
    signature.second.push_back(c != nullptr ? c->bytes : -1);
  return signature;
}

/// A rank, and those of its steps that have the most frequent signature.
struct Chosen {
  const MeasuredRank* rank = nullptr;
  std::vector<std::size_t> steps;
  std::vector<std::vector<const MeasuredCollective*>> packs;
};

void add_gradients(const Chosen& reference, StepModel& model) {
  const std::size_t last = reference.steps.back();
  const MeasuredStep& step = reference.rank->steps[last];
  for (const std::string& name : step.layers) model.layers.push_back({name, 0});
  std::int32_t in_layer = 0, before = -1;
  for (const MeasuredGradient& g : step.gradients) {
    in_layer = g.layer == before ? in_layer + 1 : 0;
    before = g.layer;
    const std::string& layer = step.layers[g.layer];
    model.gradients.push_back({g.name.empty() ? fmt::format("{}.{}", layer, in_layer) : g.name,
                               g.elements, g.type, g.shape, g.layer, g.pack});
  }
  for (const MeasuredCollective* c : reference.packs[last]) {
    StepModel::Pack pack;
    if (c != nullptr) {
      pack.bytes = c->bytes;
      pack.type = c->type;
      pack.group = c->group;
      pack.algorithm = c->algorithm;
      pack.protocol = c->protocol;
      pack.channels = c->channels;
    }
    model.packs.push_back(std::move(pack));
  }
  for (std::size_t g = 0; g < model.gradients.size(); ++g) {
    const std::int32_t pack = model.gradients[g].pack;
    if (pack >= 0 && static_cast<std::size_t>(pack) < model.packs.size())
      model.packs[pack].gradients.push_back(static_cast<std::int32_t>(g));
  }
}

struct Times {
  std::vector<std::int64_t> step, forward, forward_gap, backward, update;
  std::vector<std::int64_t> all_layers, all_gaps;  ///< for each step, the sum over its layers
  std::vector<std::vector<std::int64_t>> layers, gaps, packs;
};

void add_times(const Chosen& of, Times& times) {
  std::vector<Interval> compute, exchanges, busy;
  for (const MeasuredCompute& c : of.rank->compute) compute.push_back({c.start_ns, c.end_ns});
  for (const MeasuredCollective& c : of.rank->collectives) {
    if (c.start_ns < 0) continue;
    if (c.pack < 0) exchanges.push_back({c.start_ns, c.end_ns});
    busy.push_back({c.start_ns, c.end_ns});
  }
  busy.insert(busy.end(), compute.begin(), compute.end());
  compute = united(std::move(compute));
  exchanges = united(std::move(exchanges));
  // Traces without computation, such as timelines of Horovod, do not show idle time.
  busy = compute.empty() ? std::vector<Interval>() : united(std::move(busy));
  const auto idle = [&](std::int64_t from, std::int64_t to) {
    return busy.empty() ? 0 : to - from - covered(busy, nullptr, from, to);
  };
  const auto computed = [&](std::int64_t from, std::int64_t to) {
    return to - from - covered(exchanges, &compute, from, to) - idle(from, to);
  };
  for (const std::size_t s : of.steps) {
    const MeasuredStep& step = of.rank->steps[s];
    times.step.push_back(step.end_ns - step.start_ns);
    std::int64_t last = step.start_ns, forward_gap = 0;
    if (step.backward_ns >= 0) {
      const std::int64_t began = std::clamp(step.backward_ns, step.start_ns, step.end_ns);
      times.forward.push_back(computed(step.start_ns, began));
      forward_gap = idle(step.start_ns, began);
      std::int64_t before = began;
      times.layers.resize(std::max(times.layers.size(), step.layers.size()));
      times.gaps.resize(times.layers.size());
      std::vector<std::int64_t> ready(step.layers.size(), began);
      for (const MeasuredGradient& g : step.gradients) {
        auto& of_layer = ready[g.layer];
        of_layer = std::max(of_layer, g.ready_ns);
      }
      times.all_layers.push_back(0);
      times.all_gaps.push_back(0);
      for (std::size_t l = 0; l < ready.size(); ++l) {
        // Gradients may become ready in another order than that of the layers. A negative time of a
        // layer is replaced by zero.
        const std::int64_t end = std::clamp(ready[l], before, std::max(before, step.end_ns));
        times.layers[l].push_back(computed(before, end));
        times.gaps[l].push_back(idle(before, end));
        times.all_layers.back() += times.layers[l].back();
        times.all_gaps.back() += times.gaps[l].back();
        before = end;
      }
      if (step.layers.empty())
        before = std::clamp(step.backward_end_ns, began, std::max(began, step.end_ns));
      times.backward.push_back(before - began);
      last = before;
    }
    for (std::size_t p = 0; p < of.packs[s].size(); ++p) {
      times.packs.resize(std::max(times.packs.size(), of.packs[s].size()));
      const MeasuredCollective* c = of.packs[s][p];
      if (c == nullptr) continue;
      times.packs[p].push_back(c->duration_ns);
      last = std::max(last, c->end_ns);
    }
    times.update.push_back(step.end_ns > last ? computed(last, step.end_ns) : 0);
    if (step.end_ns > last) forward_gap += idle(last, step.end_ns);
    times.forward_gap.push_back(forward_gap);
  }
}

/// Scales the times of layers so that their sum is `sum`. The sum of the layers' medians differs
/// from the median of the steps' sums: a gap that lies in another layer in each step is in the
/// median of no layer, or in the medians of several layers.
void scale_layers(std::vector<StepModel::Layer>& layers, std::int64_t StepModel::Layer::*time,
                  std::int64_t sum) {
  double before = 0;
  for (const StepModel::Layer& layer : layers) before += static_cast<double>(layer.*time);
  if (before <= 0) return;
  double exact = 0;  // rounding the sums instead of the times keeps the total exact
  std::int64_t given = 0;
  for (StepModel::Layer& layer : layers) {
    exact += static_cast<double>(layer.*time) / before * static_cast<double>(sum);
    layer.*time = std::max<std::int64_t>(0, std::llround(exact) - given);
    given += layer.*time;
  }
}

void add_exchanges(const Chosen& reference, StepModel& model) {
  const MeasuredRank& rank = *reference.rank;
  using Key = std::tuple<MeasuredKind, std::int32_t, std::int64_t, std::string>;
  std::map<Key, std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>> found;
  std::map<std::size_t, std::size_t> place;
  for (std::size_t i = 0; i < reference.steps.size(); ++i) place[reference.steps[i]] = i;
  std::map<Key, ElementType> types;
  // Interval::start is the time that overlaps with computation; Interval::end is the total time.
  std::map<Key, Interval> hidden;
  std::vector<Interval> compute;
  for (const MeasuredCompute& c : rank.compute) compute.push_back({c.start_ns, c.end_ns});
  compute = united(std::move(compute));
  for (const MeasuredCollective& c : rank.collectives) {
    if (c.pack >= 0 || c.step < 0 || c.bytes <= 0 || c.kind == MeasuredKind::kBarrier ||
        c.kind == MeasuredKind::kOther)
      continue;
    const auto at = place.find(static_cast<std::size_t>(c.step));
    if (at == place.end()) continue;
    const Key key{c.kind, c.group, c.bytes, c.type.name};
    auto& [forward, backward] = found[key];
    types[key] = c.type;
    if (c.start_ns >= 0) {
      hidden[key].start += covered(compute, nullptr, c.start_ns, c.end_ns);
      hidden[key].end += c.end_ns - c.start_ns;
    }
    forward.resize(reference.steps.size());
    backward.resize(reference.steps.size());
    const MeasuredStep& step = rank.steps[at->first];
    const bool is_forward = step.backward_ns < 0 || c.start_ns < step.backward_ns;
    ++(is_forward ? forward : backward)[at->second];
  }
  for (const auto& [key, counts] : found) {
    StepModel::Exchange exchange{
        std::get<0>(key), std::get<1>(key), std::get<2>(key), types[key], 0, 0, false};
    exchange.overlaps = 2 * hidden[key].start > hidden[key].end;
    exchange.per_forward = upper_median(counts.first);
    exchange.per_backward = upper_median(counts.second);
    if (exchange.per_forward + exchange.per_backward > 0)
      model.exchanges.push_back(std::move(exchange));
  }
}

}  // namespace

MeasuredRun steps_of_run(const MeasuredRun& run, std::size_t from, std::size_t to) {
  MeasuredRun part = run;
  for (MeasuredRank& rank : part.ranks) {
    const std::size_t end = std::min(to, rank.steps.size()), begin = std::min(from, end);
    const auto moved = [&](auto& list) {
      std::erase_if(list, [&](const auto& item) {
        return item.step < static_cast<std::int32_t>(begin) ||
               item.step >= static_cast<std::int32_t>(end);
      });
      for (auto& item : list) item.step -= static_cast<std::int32_t>(begin);
    };
    moved(rank.compute);
    moved(rank.collectives);
    rank.steps.resize(end);
    rank.steps.erase(rank.steps.begin(), rank.steps.begin() + static_cast<std::ptrdiff_t>(begin));
  }
  return part;
}

StepModel step_model(const MeasuredRun& run) {
  StepModel model;
  model.has_buckets = run.framework == "PyTorch";
  std::map<Signature, std::int64_t> how_often;
  std::vector<std::vector<std::vector<const MeasuredCollective*>>> packs;
  for (const MeasuredRank& rank : run.ranks) {
    packs.push_back(packs_of_steps(rank));
    for (std::size_t s = 0; s < rank.steps.size(); ++s)
      ++how_often[signature_of(rank.steps[s], packs.back()[s])];
  }
  if (how_often.empty()) return model;
  // Choose the most frequent signature. On a tie, choose the signature with the most gradients,
  // because a step that is only partly in the trace has fewer gradients.
  const auto usual =
      std::max_element(how_often.begin(), how_often.end(), [](const auto& a, const auto& b) {
        return std::tuple(a.second, a.first.first) < std::tuple(b.second, b.first.first);
      });
  Times times;
  const Chosen* reference = nullptr;
  std::vector<Chosen> all;
  for (std::size_t r = 0; r < run.ranks.size(); ++r) {
    Chosen of{&run.ranks[r], {}, packs[r]};
    for (std::size_t s = 0; s < run.ranks[r].steps.size(); ++s) {
      if (signature_of(run.ranks[r].steps[s], packs[r][s]) == usual->first)
        of.steps.push_back(s);
      else
        ++model.other_steps;
    }
    if (!of.steps.empty()) all.push_back(std::move(of));
  }
  for (const Chosen& of : all) {
    if (reference == nullptr) reference = &of;
    model.steps += static_cast<std::int64_t>(of.steps.size());
    add_times(of, times);
  }
  add_gradients(*reference, model);
  add_exchanges(*reference, model);
  model.step_ns = upper_median(times.step);
  model.forward_ns = upper_median(times.forward);
  model.forward_gap_ns = upper_median(times.forward_gap);
  model.backward_ns = upper_median(times.backward);
  model.update_ns = upper_median(times.update);
  for (std::size_t l = 0; l < model.layers.size() && l < times.layers.size(); ++l) {
    model.layers[l].backward_ns = upper_median(times.layers[l]);
    model.layers[l].gap_ns = upper_median(times.gaps[l]);
  }
  scale_layers(model.layers, &StepModel::Layer::backward_ns, upper_median(times.all_layers));
  scale_layers(model.layers, &StepModel::Layer::gap_ns, upper_median(times.all_gaps));
  for (std::size_t p = 0; p < model.packs.size() && p < times.packs.size(); ++p)
    model.packs[p].duration_ns = times.packs[p].empty() ? -1 : upper_median(times.packs[p]);
  return model;
}

void align_clocks(MeasuredRun& run) {
  constexpr std::int64_t kSameClock =
      200'000;  // ns; on one host, the ends of a collective differ by less than this
  if (run.ranks.size() < 2) return;
  // Identifies a collective on all ranks: the step number, the kind, the bytes, and the index among
  // the collectives of the step for which these are the same.
  using Key = std::tuple<std::int64_t, MeasuredKind, std::int64_t, std::int64_t>;
  const auto ends_of = [](const MeasuredRank& rank) {
    std::map<Key, std::int64_t> ends;
    std::map<std::tuple<std::int64_t, MeasuredKind, std::int64_t>, std::int64_t> counted;
    for (const MeasuredCollective& c : rank.collectives) {
      if (c.step < 0 || c.end_ns < 0 || c.kind == MeasuredKind::kOther) continue;
      const std::int64_t number = rank.steps[c.step].number;
      ends[{number, c.kind, c.bytes, counted[{number, c.kind, c.bytes}]++}] = c.end_ns;
    }
    return ends;
  };
  const auto reference = ends_of(run.ranks.front());
  std::int64_t moved = 0, farthest = 0;
  for (std::size_t r = 1; r < run.ranks.size(); ++r) {
    MeasuredRank& rank = run.ranks[r];
    std::vector<std::int64_t> offsets;
    for (const auto& [key, end] : ends_of(rank)) {
      if (const auto same = reference.find(key); same != reference.end())
        offsets.push_back(end - same->second);
    }
    if (offsets.empty()) continue;
    const std::int64_t offset = upper_median(offsets);
    if (std::abs(offset) < kSameClock) continue;
    ++moved;
    farthest = std::max(farthest, std::abs(offset));
    const auto shift = [offset](std::int64_t& t) {
      if (t >= 0) t -= offset;
    };
    for (MeasuredStep& s : rank.steps) {
      shift(s.start_ns), shift(s.end_ns), shift(s.backward_ns), shift(s.backward_end_ns);
      for (MeasuredGradient& g : s.gradients) shift(g.ready_ns);
    }
    for (MeasuredCompute& c : rank.compute) shift(c.start_ns), shift(c.end_ns);
    for (MeasuredCollective& c : rank.collectives)
      shift(c.start_ns), shift(c.end_ns), shift(c.issued_ns);
  }
  if (moved > 0)
    run.notes.push_back(
        fmt::format("the times of {} ranks were shifted by up to {:.3f} ms, so that each "
                    "collective ends at the same time on all ranks",
                    moved, static_cast<double>(farthest) / 1e6));
}

}  // namespace tutti::core
