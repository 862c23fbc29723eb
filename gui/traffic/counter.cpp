#include "gui/traffic/counter.h"

#include <algorithm>

#include "core/base/check.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr std::size_t kFan = 16;

}  // namespace

Counter::Counter(std::vector<Change> changes) {
  std::sort(changes.begin(), changes.end(),
            [](const Change& a, const Change& b) { return a.at < b.at; });
  std::int64_t value = 0;
  for (std::size_t i = 0; i < changes.size();) {
    const Time at = changes[i].at;
    const std::int64_t before = value;
    for (; i < changes.size() && changes[i].at == at; ++i) value += changes[i].by;
    if (value == before) continue;
    times_.push_back(at.count());
    values_.push_back(value);
  }
  build_maxima();
}

void Counter::build_maxima() {
  for (const std::int64_t value : values_) peak_ = std::max(peak_, value);
  for (const std::vector<std::int64_t>* below = &values_; below->size() > kFan;
       below = &highest_.back()) {
    std::vector<std::int64_t> level;
    for (std::size_t i = 0; i < below->size(); i += kFan) {
      const auto first = below->begin() + static_cast<std::ptrdiff_t>(i);
      const auto last =
          below->begin() + static_cast<std::ptrdiff_t>(std::min(below->size(), i + kFan));
      level.push_back(*std::max_element(first, last));
    }
    highest_.push_back(std::move(level));
  }
}

std::size_t Counter::after(Time t) const {
  return static_cast<std::size_t>(std::upper_bound(times_.begin(), times_.end(), t.count()) -
                                  times_.begin());
}

std::int64_t Counter::at(Time t) const {
  const std::size_t next = after(t);
  return next == 0 ? 0 : values_[next - 1];
}

std::size_t Counter::changes(Time from, Time to) const {
  return from < to ? after(to - Time(1)) - after(from - Time(1)) : 0;
}

/// Returns the maximum from `from` until `to`, including the value at `from`. Goes up level by
/// level through the stored maxima, and shortens the range from both ends.
std::int64_t Counter::most(Time from, Time to) const {
  TUTTI_CHECK(from < to, "from {} to {}", from.count(), to.count());
  std::int64_t best = at(from);
  std::size_t first = after(from), last = after(to - Time(1));
  for (std::size_t level = 0; first < last; ++level) {
    const std::vector<std::int64_t>& values = level == 0 ? values_ : highest_[level - 1];
    const bool top = level == highest_.size();
    while (first < last && (top || first % kFan != 0)) best = std::max(best, values[first++]);
    while (first < last && last % kFan != 0) best = std::max(best, values[--last]);
    first /= kFan;
    last /= kFan;
  }
  return best;
}

void MergedCounter::append(const Counter& part, const TimeRange& range) {
  append(range.from.count(), part.at(range.from));
  for (std::size_t i = part.after(range.from);
       i < part.times_.size() && part.times_[i] < range.to.count(); ++i)
    append(part.times_[i], part.values_[i]);
}

void MergedCounter::append(std::int64_t at, std::int64_t value) {
  if (value == last_value_) return;
  if (at - last_at_ > gap_) separate_last();
  if (in_value_ == 0) {
    made_.times_.push_back(at);
    made_.values_.push_back(value);
  } else {
    made_.values_.back() = std::max(made_.values_.back(), value);
  }
  in_value_ = (in_value_ + 1) % merged_;
  last_at_ = at;
  last_value_ = value;
}

/// Ends the last value of made_ at the time of the last change, after which the counter did not
/// change for a long time.
void MergedCounter::separate_last() {
  in_value_ = 0;
  if (made_.values_.empty() || made_.times_.back() == last_at_) return;
  made_.times_.push_back(last_at_);
  made_.values_.push_back(last_value_);
}

Counter MergedCounter::finish() {
  separate_last();
  made_.times_.shrink_to_fit();
  made_.values_.shrink_to_fit();
  made_.build_maxima();
  return std::move(made_);
}

}  // namespace tutti::gui
