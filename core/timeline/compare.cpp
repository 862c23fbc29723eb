#include "core/timeline/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/format.h"
#include "core/timeline/summary.h"

namespace tutti::core {
namespace {

Time magnitude(Time t) { return t < Time() ? Time() - t : t; }

/// "12.3 ms (4.5 %) more".
std::string more(const Pair& pair) {
  const Time by = pair.difference();
  const auto of_first = pair.share();
  const std::string share = of_first ? fmt::format(" ({:.1f} %)", 100 * std::abs(*of_first)) : "";
  return fmt::format("{}{} {}", show(magnitude(by)), share, by < Time() ? "less" : "more");
}

Expected<Summary> summary_of(const TimelineReader& timeline, const char* which) {
  Summary summary;
  if (auto done = timeline.replay(summary); !done) return tl::make_unexpected(done.error());
  if (summary.steps().empty())
    return tl::make_unexpected(Error::request(fmt::format("no step ended in the {} timeline", which)));
  return summary;
}

/// Adds the lanes' steps of the last training step up by kind, and counts those that only one has.
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
  const auto counts = join_lane_steps(a, b, {{comparison.step, comparison.step_b}}, packs, add);
  if (!counts) return tl::make_unexpected(counts.error());
  for (auto& [key, kind] : kinds) {
    kind.mean_error = Time(kind.mean_error.count() / kind.steps);
    comparison.kinds.push_back(kind);
  }
  comparison.steps_joined = counts->joined;
  comparison.steps_only_a = counts->only_a;
  comparison.steps_only_b = counts->only_b;
  comparison.together = counts->together;
  comparison.most_channels_a = counts->most_channels_a;
  comparison.most_channels_b = counts->most_channels_b;
  return {};
}

}  // namespace

StepComparison compare_step(const StepRecord& a, const StepRecord& b, std::span<const PackRecord> packs_a,
                            std::span<const PackRecord> packs_b, const RunInfo& run_a, const Numbers& common) {
  StepComparison step;
  step.step = a.step;
  step.step_b = b.step;
  step.time = {a.end - a.start, b.end - b.start};
  step.forward = {a.forward, b.forward};
  step.backward = {a.backward, b.backward};
  step.other_compute = {a.other_compute, b.other_compute};
  step.communication = {a.communication, b.communication};
  step.exposed = {a.exposed, b.exposed};
  std::map<std::int32_t, const PackRecord*> of_b;
  for (const PackRecord& pack : packs_b) of_b[pack.pack] = &pack;
  for (const PackRecord& pack : packs_a) {
    const auto number = common.find(pack.pack);
    const auto other = number == common.end() ? of_b.end() : of_b.find(number->second);
    if (other == of_b.end()) {
      ++step.packs_only_a;
      continue;
    }
    const RunInfo::PackInfo& info = run_a.packs[static_cast<std::size_t>(pack.pack)];
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

Expected<Comparison> compare(const TimelineReader& a, const TimelineReader& b) {
  const auto summary_a = summary_of(a, "first");
  if (!summary_a) return tl::make_unexpected(summary_a.error());
  const auto summary_b = summary_of(b, "second");
  if (!summary_b) return tl::make_unexpected(summary_b.error());
  const Numbers packs = packs_in_common(summary_a->info(), summary_b->info());
  Comparison comparison;
  static_cast<StepComparison&>(comparison) =
      compare_step(summary_a->steps().back(), summary_b->steps().back(), summary_a->last_packs(),
                   summary_b->last_packs(), summary_a->info(), packs);
  comparison.a = summary_a->info();
  comparison.b = summary_b->info();
  comparison.step_time = {summary_a->step_time(), summary_b->step_time()};
  if (auto done = compare_lanes(a, b, packs, comparison); !done) return tl::make_unexpected(done.error());
  return comparison;
}

std::vector<std::string> Comparison::in_words() const {
  std::vector<std::string> sentences;
  sentences.push_back(fmt::format("the second's step takes {}", more(step_time)));
  const std::vector<std::pair<const char*, Pair>> parts{{"forward pass", forward},
                                                        {"backward pass", backward},
                                                        {"copies and updates", other_compute},
                                                        {"exposed communication", exposed}};
  const auto largest = std::max_element(parts.begin(), parts.end(), [](const auto& x, const auto& y) {
    return magnitude(x.second.difference()) < magnitude(y.second.difference());
  });
  if (largest->second.difference() != Time())
    sentences.push_back(
        fmt::format("most of that lies in the {}, which takes {}", largest->first, more(largest->second)));
  const auto pack = std::max_element(packs.begin(), packs.end(), [](const auto& x, const auto& y) {
    return magnitude(x.took.difference()) < magnitude(y.took.difference());
  });
  if (pack != packs.end() && pack->took.difference() != Time())
    sentences.push_back(
        fmt::format("of the packs, number {} differs most: in flight {}", pack->pack, more(pack->took)));
  if (packs_only_a + packs_only_b > 0) {
    sentences.push_back(
        fmt::format("{} packs of the first and {} of the second hold other gradients and are not compared",
                    packs_only_a, packs_only_b));
  }
  if (together > 0) {
    sentences.push_back(fmt::format(
        "of {} packs on devices the first has up to {} channels and the second up to {}, not as many: they are "
        "compared together, from the first channel's begin to the last one's end",
        together, most_channels_a, most_channels_b));
  }
  // Where one of them recorded no lanes at all there is nothing to miss.
  if (steps_joined > 0 && steps_only_a + steps_only_b > 0) {
    sentences.push_back(
        fmt::format("{} steps of lanes of the first and {} of the second are in one alone and are not compared",
                    steps_only_a, steps_only_b));
  }
  return sentences;
}

}  // namespace tutti::core
