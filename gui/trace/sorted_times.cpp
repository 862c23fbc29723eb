#include "gui/trace/sorted_times.h"

#include <algorithm>

namespace tutti::gui {

namespace {

/// Returns the same result as std::lower_bound. The search starts at an index at or before the
/// result.
/// Cost: logarithmic in the distance.
std::size_t walk(const std::vector<std::int64_t>& times, std::size_t from, std::int64_t t) {
  std::size_t reach = 1;
  while (from + reach <= times.size() && times[from + reach - 1] < t) {
    from += reach;
    reach *= 2;
  }
  const auto begin = times.begin() + static_cast<std::ptrdiff_t>(from);
  const auto end =
      times.begin() + static_cast<std::ptrdiff_t>(std::min(times.size(), from + reach));
  return static_cast<std::size_t>(std::lower_bound(begin, end, t) - times.begin());
}

}  // namespace

void SortedTimes::finish() {
  samples_.clear();
  for (const std::vector<std::int64_t>* below = &times_; below->size() > kFan;
       below = &samples_.back()) {
    std::vector<std::int64_t> samples;
    samples.reserve((below->size() + kFan - 1) / kFan);
    for (std::size_t i = 0; i < below->size(); i += kFan) samples.push_back((*below)[i]);
    samples_.push_back(std::move(samples));
  }
}

/// Returns how many times of a level are before `t`. `above` is the same number for the next
/// coarser level.
std::size_t SortedTimes::refine(std::size_t of, std::size_t above, std::int64_t t) const {
  if (above == 0) return 0;
  const std::vector<std::int64_t>& times = level(of);
  const std::size_t first = (above - 1) * kFan;
  const std::int64_t* const block = times.data() + first;
  const std::size_t size = std::min(kFan, times.size() - first);
  std::size_t last = 0;  // last one before `t`; block[0] is before `t`
  for (std::size_t step = kFan / 2; step > 0; step /= 2) {
    if (last + step < size && block[last + step] < t) last += step;
  }
  return first + last + 1;
}

SortedTimes::Index SortedTimes::first_from(std::int64_t t) const {
  const std::vector<std::int64_t>& top = level(samples_.size());
  auto place = static_cast<std::size_t>(std::lower_bound(top.begin(), top.end(), t) - top.begin());
  for (std::size_t l = samples_.size(); l-- > 0;) place = refine(l, place, t);
  return static_cast<Index>(place);
}

/// Returns the finest level of which only a few times lie between two consecutive values of
/// `wanted`, on average.
std::size_t SortedTimes::level_for(std::span<const std::int64_t> wanted) const {
  std::size_t between = (first_from(wanted.back()) - first_from(wanted.front())) / wanted.size();
  std::size_t level = 0;
  for (; between >= kFan && level < samples_.size(); between /= kFan) ++level;
  return level;
}

void SortedTimes::first_from_each(std::span<const std::int64_t> wanted,
                                  std::span<Index> places) const {
  if (wanted.empty()) return;
  std::size_t l = level_for(wanted);
  std::size_t place = 0;
  {
    const std::vector<std::int64_t>& times = level(l);
    place = static_cast<std::size_t>(std::lower_bound(times.begin(), times.end(), wanted.front()) -
                                     times.begin());
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      place = walk(times, place, wanted[i]);
      places[i] = static_cast<Index>(place);
    }
  }
  constexpr std::size_t kAhead = 16;
  while (l-- > 0) {
    const std::int64_t* const times = level(l).data();
    const auto ask_for = [&](std::size_t i) {
      const std::int64_t* const block = times + (std::max<std::size_t>(places[i], 1) - 1) * kFan;
      __builtin_prefetch(block);
      __builtin_prefetch(block + kFan / 2);
    };
    for (std::size_t i = 0; i < std::min(kAhead, wanted.size()); ++i) ask_for(i);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (i + kAhead < wanted.size()) ask_for(i + kAhead);
      places[i] = static_cast<Index>(refine(l, places[i], wanted[i]));
    }
  }
}

std::size_t SortedTimes::memory() const {
  std::size_t bytes = times_.capacity() * sizeof(std::int64_t);
  for (const auto& samples : samples_) bytes += samples.capacity() * sizeof(std::int64_t);
  return bytes;
}

}  // namespace tutti::gui
