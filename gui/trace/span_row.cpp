#include "gui/trace/span_row.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/plan/compute_kind.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr int kBackward =
    core::SpanKind::kFirstCompute + static_cast<int>(core::ComputeKind::kBackward);
constexpr std::int64_t kMaxLayers = 1'000'000'000;
/// A wait of at most 1/255 of its span is too short to be visible in a picture.
constexpr std::int64_t kVisibleWait = 255;

template <class T>
std::size_t bytes_of(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

}  // namespace

void SpanRow::reserve(std::size_t spans) {
  starts_->reserve(spans);
  columns_->sums.reserve(spans + 1);
  columns_->kinds.reserve(spans);
}

void SpanRow::add(const core::Span& span) {
  const std::int64_t last = starts_->empty() ? 0 : end(size() - 1).count();
  const std::int64_t start = std::max(span.start.count(), last);
  const std::int64_t end = std::max((span.start + span.duration).count(), start);
  starts_->push_back(start);
  columns_->sums.push_back(columns_->sums.back() + (end - start));
  columns_->kinds.push_back(static_cast<std::uint8_t>(span.kind));
  const std::int64_t wait = std::clamp<std::int64_t>(span.wait.count(), 0, end - start);
  columns_->waits.push_back(wait);
  columns_->has_waits = columns_->has_waits || wait > (end - start) / kVisibleWait;
  auto& times = columns_->kind_times;
  const int kind = columns_->kinds.back();
  auto sum =
      std::find_if(times.begin(), times.end(), [&](const auto& k) { return k.first == kind; });
  if (sum == times.end()) sum = times.insert(times.end(), {kind, Time()});
  sum->second += Time(end - start);
  // A span has either a layer or a pack, so one number stores either. Numbers for layers are less
  // than -1.
  const bool has_layer =
      span.kind == kBackward && span.pack < 0 && span.index >= 0 && span.index < kMaxLayers;
  columns_->packs.push_back(has_layer ? kFirstLayer - span.index : span.pack);
}

void SpanRow::finish() {
  starts_->finish();
  columns_->waits.shrink_to_fit();
  columns_->packs.shrink_to_fit();
  columns_->longest.build(columns_->sums, columns_->kinds);
}

void SpanRow::first_from_each(std::span<const std::int64_t> times, std::span<Index> places) const {
  starts_->first_from_each(times, places);
  for (const Index place : places) __builtin_prefetch(&columns_->sums[place]);
}

Time SpanRow::busy(Time from, Time to) const {
  return busy(from, to, first_from(from), first_from(to));
}

/// Spans do not overlap. Only the last span that starts before `from` can extend into the range,
/// and only the last span that starts before `to` can extend beyond the range.
Time SpanRow::busy(Time from, Time to, Index first, Index last) const {
  if (to <= from) return Time();
  Time sum(columns_->sums[last] - columns_->sums[first]);
  if (first > 0) sum += std::max(Time(), std::min(end(first - 1), to) - from);
  if (last > first) sum -= std::max(Time(), end(last - 1) - to);
  return sum;
}

SpanRow::Index SpanRow::at(Time t) const {
  const Index after = first_from(t + Time(1));
  return after > 0 && end(after - 1) > t ? after - 1 : size();
}

LongestSpans::Entry SpanRow::longest_entry(Index first, Index last) const {
  TUTTI_CHECK(first < last && last <= size(), "first = {}, last = {}, {} spans", first, last,
              size());
  return columns_->longest.longest(columns_->sums, columns_->kinds, first, last);
}

std::optional<SpanRow> SpanRow::moved(const Shifts& shifts) const {
  SpanRow made;
  made.columns_ = columns_;
  made.starts_->reserve(size());
  std::int64_t last = 0;
  for (std::size_t s = 0; s < shifts.size(); ++s) {
    const Index end = s + 1 < shifts.size() ? shifts[s + 1].first : size();
    for (Index i = shifts[s].first; i < end; ++i) {
      std::int64_t start = 0;
      if (__builtin_add_overflow((*starts_)[i], shifts[s].second.count(), &start) || start < 0)
        return std::nullopt;
      start = std::max(start, last);
      made.starts_->push_back(start);
      if (__builtin_add_overflow(start, duration(i).count(), &last) ||
          last > core::kHorizon.count())
        return std::nullopt;
    }
  }
  made.starts_->finish();
  return made;
}

std::size_t SpanRow::memory() const {
  std::size_t bytes = starts_->memory() + columns_->longest.memory() + bytes_of(columns_->sums) +
                      bytes_of(columns_->kinds) + columns_->waits.memory() +
                      columns_->packs.memory();
  return bytes;
}

}  // namespace tutti::gui
