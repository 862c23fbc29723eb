#include "gui/trace/longest_spans.h"

#include <algorithm>

namespace tutti::gui {

namespace {

using Entry = LongestSpans::Entry;

/// Replaces `best` by `later` if `later` is longer.
void take(Entry& best, const Entry& later) {
  if (later.duration > best.duration) best = later;
}

Entry scan(const std::vector<std::int64_t>& sums, const std::vector<std::uint8_t>& kinds,
           std::size_t first, std::size_t end) {
  Entry best;
  for (std::size_t i = first; i < end; ++i)
    take(best, {sums[i + 1] - sums[i], static_cast<LongestSpans::Index>(i), 0});
  best.kind = kinds[best.index];
  return best;
}

}  // namespace

void LongestSpans::build(const std::vector<std::int64_t>& sums,
                         const std::vector<std::uint8_t>& kinds) {
  levels_.clear();
  const std::size_t spans = kinds.size();
  if (spans <= kFan) return;
  std::vector<Entry> blocks((spans + kFan - 1) / kFan);
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    blocks[b] = scan(sums, kinds, b * kFan, std::min(spans, (b + 1) * kFan));
  }
  levels_.push_back(std::move(blocks));
  while (levels_.back().size() > kFan) {
    const std::vector<Entry>& below = levels_.back();
    std::vector<Entry> level((below.size() + kFan - 1) / kFan);
    for (std::size_t i = 0; i < below.size(); ++i) take(level[i / kFan], below[i]);
    levels_.push_back(std::move(level));
  }
}

/// Returns the longest span of a range of blocks. Goes up level by level, and shortens the range
/// from both ends. At each level, examines the entries at the ends that do not fill a whole block
/// of the next level.
Entry LongestSpans::of_blocks(std::size_t first, std::size_t end) const {
  Entry left, right;  // `right` collects entries from right to left
  for (std::size_t l = 0; first < end; ++l) {
    const std::vector<Entry>& level = levels_[l];
    const bool top = l + 1 == levels_.size();
    while (first < end && (top || first % kFan != 0)) take(left, level[first++]);
    while (first < end && end % kFan != 0) {
      if (const Entry& earlier = level[--end]; earlier.duration >= right.duration) right = earlier;
    }
    first /= kFan;
    end /= kFan;
  }
  take(left, right);
  return left;
}

Entry LongestSpans::longest(const std::vector<std::int64_t>& sums,
                            const std::vector<std::uint8_t>& kinds, Index first, Index end) const {
  if (end - first < kFan || levels_.empty()) return scan(sums, kinds, first, end);
  const std::vector<Entry>& blocks = levels_.front();
  const std::size_t from = (first + kFan - 1) / kFan, to = end / kFan;
  const Entry between = of_blocks(from, to);
  Entry best;
  if (first % kFan != 0 && blocks[from - 1].duration >= between.duration) {
    const Entry& cut = blocks[from - 1];
    best = cut.index >= first ? cut : scan(sums, kinds, first, from * kFan);
  }
  take(best, between);
  if (end % kFan != 0 && blocks[to].duration > best.duration) {
    const Entry& cut = blocks[to];
    take(best, cut.index < end ? cut : scan(sums, kinds, to * kFan, end));
  }
  return best;
}

std::size_t LongestSpans::memory() const {
  std::size_t bytes = 0;
  for (const auto& level : levels_) bytes += level.capacity() * sizeof(Entry);
  return bytes;
}

}  // namespace tutti::gui
