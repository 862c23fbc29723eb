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
    peak_ = std::max(peak_, value);
  }
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

}  // namespace tutti::gui
