#include "gui/model/span_row.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr std::size_t kFan = 16;

template <class T>
std::size_t bytes_of(const std::vector<T>& v) {
  return v.capacity() * sizeof(T);
}

}  // namespace

void SpanRow::reserve(std::size_t spans) {
  starts_->reserve(spans);
  columns_->sums.reserve(spans + 1);
  columns_->kinds.reserve(spans);
  columns_->packs.reserve(spans);
}

void SpanRow::add(const core::Span& span) {
  const std::int64_t last = starts_->empty() ? 0 : end(size() - 1).count();
  const std::int64_t start = std::max(span.start.count(), last);
  const std::int64_t end = std::max((span.start + span.duration).count(), start);
  starts_->push_back(start);
  columns_->sums.push_back(columns_->sums.back() + (end - start));
  columns_->kinds.push_back(static_cast<std::uint8_t>(span.kind));
  columns_->packs.push_back(span.pack);
}

void SpanRow::finish() {
  columns_->pyramid.clear();
  std::size_t below = starts_->size();
  while (below > kFan) {
    std::vector<Index> level((below + kFan - 1) / kFan);
    const std::vector<Index>* const under = columns_->pyramid.empty() ? nullptr : &columns_->pyramid.back();
    for (std::size_t i = 0; i < below; ++i) {
      const Index candidate = under ? (*under)[i] : static_cast<Index>(i);
      Index& best = level[i / kFan];
      best = i % kFan == 0 ? candidate : longer(best, candidate);
    }
    below = level.size();
    columns_->pyramid.push_back(std::move(level));
  }
}

SpanRow::Index SpanRow::first_from(Time t, Index hint) const {
  const std::int64_t at = t.count();
  std::size_t low = hint;
  std::size_t reach = 1;
  while (low + reach < starts_->size() && (*starts_)[low + reach] < at) {
    low += reach;
    reach *= 2;
  }
  const auto begin = starts_->begin() + static_cast<std::ptrdiff_t>(low);
  const auto end = starts_->begin() + static_cast<std::ptrdiff_t>(std::min(starts_->size(), low + reach + 1));
  return static_cast<Index>(std::lower_bound(begin, end, at) - starts_->begin());
}

Time SpanRow::busy(Time from, Time to) const { return busy(from, to, first_from(from), first_from(to)); }

/// Spans do not overlap, so only the last one before `from` can reach into the window, and only the last one before
/// `to` out of it.
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

/// Up the pyramid from both ends: at each level what does not fill a block is looked at one by one.
SpanRow::Index SpanRow::longest(Index first, Index last) const {
  TUTTI_CHECK(first < last && last <= size(), "first = {}, last = {}, {} spans", first, last, size());
  Index best = first;
  // The earliest of several: those from the left come in order, those from the right are met from right to left.
  Index right = last;
  bool has_right = false;
  const auto entry = [this](std::size_t level, std::size_t i) {
    return level == 0 ? static_cast<Index>(i) : columns_->pyramid[level - 1][i];
  };
  const auto take_right = [&](Index candidate) {
    right = has_right && duration(right) > duration(candidate) ? right : candidate;
    has_right = true;
  };
  std::size_t from = first, to = last;
  for (std::size_t level = 0; from < to; ++level) {
    const bool top = level == columns_->pyramid.size();
    while (from < to && (top || from % kFan != 0)) best = longer(best, entry(level, from++));
    while (from < to && to % kFan != 0) take_right(entry(level, --to));
    from /= kFan;
    to /= kFan;
  }
  return has_right ? longer(best, right) : best;
}

std::optional<SpanRow> SpanRow::moved(const Shifts& shifts) const {
  SpanRow made;
  made.columns_ = columns_;
  made.starts_->resize(starts_->size());
  std::int64_t last = 0;
  for (std::size_t s = 0; s < shifts.size(); ++s) {
    const Index end = s + 1 < shifts.size() ? shifts[s + 1].first : size();
    for (Index i = shifts[s].first; i < end; ++i) {
      std::int64_t start = 0;
      if (__builtin_add_overflow((*starts_)[i], shifts[s].second.count(), &start) || start < 0) return std::nullopt;
      (*made.starts_)[i] = std::max(start, last);
      if (__builtin_add_overflow((*made.starts_)[i], duration(i).count(), &last) || last > core::kHorizon.count())
        return std::nullopt;
    }
  }
  return made;
}

std::size_t SpanRow::memory() const {
  std::size_t bytes =
      bytes_of(*starts_) + bytes_of(columns_->sums) + bytes_of(columns_->kinds) + bytes_of(columns_->packs);
  for (const auto& level : columns_->pyramid) bytes += bytes_of(level);
  return bytes;
}

}  // namespace tutti::gui
