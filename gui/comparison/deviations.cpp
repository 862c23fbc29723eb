#include "gui/comparison/deviations.h"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>

#include "core/timeline/step_parts.h"

namespace tutti::gui {

using core::Pair;
using core::SpanPair;

namespace {

std::int64_t magnitude(const Pair& time) { return std::abs(time.difference().count()); }

bool is_larger(const Deviation& a, const Deviation& b) {
  return magnitude(a.time) > magnitude(b.time);
}

/// Collects deviations, and keeps only the largest.
class Largest {
 public:
  explicit Largest(std::size_t most) : most_(most) {}

  [[nodiscard]] bool would_take(const Pair& time) const {
    return most_ > 0 && (heap_.size() < most_ || magnitude(time) > magnitude(heap_.front().time));
  }
  void take(Deviation error) {
    if (!would_take(error.time)) return;
    heap_.push_back(std::move(error));
    std::push_heap(heap_.begin(), heap_.end(), is_larger);
    if (heap_.size() <= most_) return;
    std::pop_heap(heap_.begin(), heap_.end(), is_larger);
    heap_.pop_back();
  }
  void move_to(std::vector<Deviation>& errors) {
    std::move(heap_.begin(), heap_.end(), std::back_inserter(errors));
  }

 private:
  std::size_t most_;
  std::vector<Deviation> heap_;
};

void add_steps(const std::vector<core::StepComparison>& steps, std::vector<Deviation>& errors,
               Largest& packs) {
  for (const core::StepComparison& step : steps) {
    errors.push_back({Deviation::Sort::kStep, step.step, -1, "step", "", step.time});
    for (const auto& part : core::named_step_parts(step)) {
      if (part.adds_up)
        errors.push_back({Deviation::Sort::kPart, step.step, -1, part.title, "", part.value});
    }
    for (const core::PackComparison& pack : step.packs)
      packs.take({Deviation::Sort::kPack, step.step, pack.pack, "pack in flight", "", pack.took});
  }
}

}  // namespace

core::Expected<std::vector<Deviation>> largest_deviations(
    const core::TimelineReader& a, const core::TimelineReader& b,
    const std::vector<core::StepComparison>& steps, const core::Numbers& packs, std::size_t most,
    const std::atomic<bool>& stop) {
  std::vector<Deviation> errors;
  Largest largest_packs(most), largest_spans(most);
  add_steps(steps, errors, largest_packs);
  std::map<core::TrackId, std::string> names;
  for (const core::Track& track : a.tracks())
    names.emplace(track.id,
                  fmt::format("w{}/{}, {}", track.worker, track.device, name_of_row(track)));
  core::Numbers common;
  for (const core::StepComparison& step : steps) common[step.step] = step.step_b;
  const auto take = [&](const SpanPair& pair) {
    const Pair time{core::work_of(pair.a), core::work_of(pair.b)};
    if (largest_spans.would_take(time)) {
      const std::string where = names[pair.track_a];
      largest_spans.take({Deviation::Sort::kSpan, pair.a.step, pair.a.pack,
                          core::span_name(pair.a.kind) + (pair.together ? "s, together" : ""),
                          pair.together ? where.substr(0, where.find(',')) : where, time,
                          pair.track_a, pair.a.start});
    }
    return !stop;
  };
  if (const auto joined = core::join_lane_steps(a, b, common, packs, take); !joined)
    return tl::make_unexpected(joined.error());
  if (const auto joined = core::join_other_spans(a, b, common, packs, take); !joined)
    return tl::make_unexpected(joined.error());
  largest_packs.move_to(errors);
  largest_spans.move_to(errors);
  std::stable_sort(errors.begin(), errors.end(), is_larger);
  return errors;
}

}  // namespace tutti::gui
