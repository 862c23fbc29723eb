// Packs are matched by their gradients, because two strategies number packs differently. The times
// of packs are relative to the start of the training step. The parts of a training step (forward,
// backward, …) are averaged over the steady steps and then compared. Packs and schedule steps are
// compared only in the last training step. in_words() names the largest difference first, and then
// the reasons why two times may not be comparable. Examples of such reasons: one run is emulated
// and has no slowdown by communication; one run uses NCCL's calibrated times and the other run
// simulates rings; packs or steps occur in only one timeline. join.cpp matches the spans of the two
// timelines.

#include "core/timeline/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/timeline/pack_info.h"
#include "core/timeline/summary.h"
#include "core/timeline/waiting.h"

namespace tutti::core {
namespace {

Time magnitude(Time t) { return t < Time() ? Time() - t : t; }

/// Describes the difference of two times: "12.3 ms (4.5 %) more".
std::string more(const Pair& pair) {
  const Time by = pair.difference();
  const auto of_first = pair.share();
  const std::string share = of_first ? fmt::format(" ({:.1f} %)", 100 * std::abs(*of_first)) : "";
  return fmt::format("{}{} {}", show(magnitude(by)), share, by < Time() ? "less" : "more");
}

/// Returns the parts of two training steps as pairs. `time_a` and `time_b` are the durations of the
/// steps.
template <class Step>
PartsComparison both(const Step& a, const Step& b, Time time_a, Time time_b) {
  return {{time_a, time_b},
          {a.forward, b.forward},
          {a.backward, b.backward},
          {a.other_compute, b.other_compute},
          {a.communication, b.communication},
          {a.exposed, b.exposed},
          {a.slowed, b.slowed}};
}

Expected<Summary> summary_of(const TimelineReader& timeline) {
  Summary summary;
  if (auto done = timeline.replay(summary); !done) return tl::make_unexpected(done.error());
  return summary;
}

/// For the last training step, sums the times of the schedule steps of each kind, and counts the
/// schedule steps that occur in only one timeline.
Expected<void> compare_lanes(const TimelineReader& a, const TimelineReader& b, const Numbers& packs,
                             Comparison& comparison) {
  std::map<std::pair<bool, std::int32_t>, KindComparison> kinds;
  const auto add = [&](const SpanPair& pair) {
    KindComparison& kind = kinds[{pair.together, pair.a.kind}];
    const Pair time{work_of(pair.a), work_of(pair.b)};
    kind.kind = pair.a.kind;
    kind.together = pair.together;
    ++kind.steps;
    kind.time.a += time.a;
    kind.time.b += time.b;
    kind.mean_error += magnitude(time.difference());
    return true;
  };
  const auto counts =
      join_lane_steps(a, b, {{comparison.last.step, comparison.last.step_b}}, packs, add);
  if (!counts) return tl::make_unexpected(counts.error());
  for (auto& [key, kind] : kinds) {
    kind.mean_error = Time(kind.mean_error.count() / kind.steps);
    comparison.kinds.push_back(kind);
  }
  comparison.steps_joined = counts->joined;
  comparison.steps_only_a = counts->only_a;
  comparison.steps_only_b = counts->only_b;
  comparison.together = counts->together;
  comparison.max_channels_a = counts->max_channels_a;
  comparison.max_channels_b = counts->max_channels_b;
  return {};
}

}  // namespace

StepComparison compare_step(const StepRecord& a, const StepRecord& b,
                            std::span<const PackRecord> packs_a,
                            std::span<const PackRecord> packs_b, const RunInfo& run_a,
                            const Numbers& common) {
  StepComparison step;
  static_cast<PartsComparison&>(step) = both(a, b, a.end - a.start, b.end - b.start);
  step.step = a.step;
  step.step_b = b.step;
  std::map<std::int32_t, const PackRecord*> of_b;
  for (const PackRecord& pack : packs_b) of_b[pack.pack] = &pack;
  for (const PackRecord& pack : packs_a) {
    const auto number = common.find(pack.pack);
    const auto other = number == common.end() ? of_b.end() : of_b.find(number->second);
    if (other == of_b.end()) {
      ++step.packs_only_a;
      continue;
    }
    const RunInfo::PackInfo& info = pack_info(run_a, pack.pack);
    const PackRecord& match = *other->second;
    step.packs.push_back({pack.pack,
                          match.pack,
                          info.bytes,
                          info.gradients.empty() ? "" : info.gradients.back(),
                          {pack.ready - a.start, match.ready - b.start},
                          {pack.last_start - a.start, match.last_start - b.start},
                          {pack.end - a.start, match.end - b.start},
                          {pack.end - pack.last_start, match.end - match.last_start}});
    of_b.erase(other);
  }
  step.packs_only_b = static_cast<std::int64_t>(of_b.size());
  return step;
}

Expected<Comparison> compare_runs(const Summary& a, const Summary& b) {
  const auto of_a = a.steady_parts(), of_b = b.steady_parts();
  if (!of_a || !of_b)
    return tl::make_unexpected(Error::request(
        {ProblemCode::kMissing},
        fmt::format("no training step ended in the {} timeline", of_a ? "second" : "first")));
  Comparison comparison;
  comparison.a = a.info();
  comparison.b = b.info();
  comparison.steady = both(*of_a, *of_b, of_a->time, of_b->time);
  comparison.basis_a = a.steady_basis();
  comparison.basis_b = b.steady_basis();
  comparison.last = compare_step(a.steps().back(), b.steps().back(), a.last_packs(), b.last_packs(),
                                 a.info(), packs_in_common(a.info(), b.info()));
  return comparison;
}

Expected<Comparison> compare(const TimelineReader& a, const TimelineReader& b) {
  const auto summary_a = summary_of(a);
  if (!summary_a) return tl::make_unexpected(summary_a.error());
  const auto summary_b = summary_of(b);
  if (!summary_b) return tl::make_unexpected(summary_b.error());
  auto comparison = compare_runs(*summary_a, *summary_b);
  if (!comparison) return comparison;
  const Numbers packs = packs_in_common(comparison->a, comparison->b);
  if (auto done = compare_lanes(a, b, packs, *comparison); !done)
    return tl::make_unexpected(done.error());
  return comparison;
}

std::vector<std::string> Comparison::in_words() const {
  std::vector<std::string> sentences;
  sentences.push_back(steady.time.difference() == Time()
                          ? "both timelines have the same step time"
                          : fmt::format("the second timeline's step takes {}", more(steady.time)));
  const std::vector<std::pair<const char*, Pair>> parts{
      {"forward pass", steady.forward},
      {"backward pass", steady.backward},
      {"copies and updates", steady.other_compute},
      {"exposed communication", steady.exposed},
      {"waiting", waiting(steady)}};
  const auto largest =
      std::max_element(parts.begin(), parts.end(), [](const auto& x, const auto& y) {
        return magnitude(x.second.difference()) < magnitude(y.second.difference());
      });
  if (largest->second.difference() != Time())
    sentences.push_back(
        fmt::format("the largest difference is in the {}: {} in the second timeline",
                    largest->first, more(largest->second)));
  const auto emulates = [](const RunInfo& run) { return run.executor.starts_with("emulated"); };
  for (const auto& [slowed, simulated, other] :
       {std::tuple(steady.slowed.a, &a, &b), std::tuple(steady.slowed.b, &b, &a)}) {
    if (slowed == Time() || !emulates(*other)) continue;
    sentences.push_back(fmt::format(
        "in the {} run, communication slows computation by {} per step, but in the emulated run it "
        "does not; simulate with --interference off to exclude this difference",
        simulated->executor, show(slowed)));
  }
  const auto has_nccl = [](const RunInfo& run) {
    return std::any_of(run.packs.begin(), run.packs.end(),
                       [](const RunInfo::PackInfo& p) { return !p.nccl.empty(); });
  };
  for (const auto& [simulated, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
    if (!has_nccl(*simulated) || !emulates(*other)) continue;
    sentences.emplace_back(
        "the simulated run uses NCCL's choices and calibrated times, but the emulated run sends "
        "the messages of rings; simulate with --nccl rings to compare the two runs");
  }
  const auto pack =
      std::max_element(last.packs.begin(), last.packs.end(), [](const auto& x, const auto& y) {
        return magnitude(x.took.difference()) < magnitude(y.took.difference());
      });
  if (pack != last.packs.end() && pack->took.difference() != Time())
    sentences.push_back(fmt::format("pack {} differs most: its time in flight is {}", pack->pack,
                                    more(pack->took)));
  if (last.packs_only_a + last.packs_only_b > 0) {
    sentences.push_back(
        fmt::format("{} packs of the first timeline and {} of the second contain gradients "
                    "that do not match a pack of the other timeline; these packs are not compared",
                    last.packs_only_a, last.packs_only_b));
  }
  if (together > 0) {
    sentences.push_back(fmt::format(
        "{} different numbers of channels in the two timelines (up to {} in the first, up to {} in "
        "the second), so each of these packs is compared as a whole, from the start of its first "
        "channel to the end of its last channel",
        together == 1 ? "1 pack has" : fmt::format("{} packs have", together), max_channels_a,
        max_channels_b));
  }
  // Mention missing steps only if some steps were joined. If no steps were joined, one of the
  // timelines may have no lanes at all.
  if (steps_joined > 0 && steps_only_a + steps_only_b > 0) {
    sentences.push_back(
        fmt::format("{} schedule steps of the first timeline and {} of the second have no "
                    "counterpart in the other timeline and are not compared",
                    steps_only_a, steps_only_b));
  }
  return sentences;
}

}  // namespace tutti::core
