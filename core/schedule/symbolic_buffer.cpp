#include "core/schedule/symbolic_buffer.h"

#include <algorithm>

namespace tutti::core {

std::int64_t length_of(const Content& content) {
  std::int64_t length = 0;
  for (const Stretch& stretch : content) length += stretch.count;
  return length;
}

void add_to(Content& sum, const Content& more, Sums& sums) {
  if (sum.empty()) {
    sum = more;
    return;
  }
  Content result;
  std::size_t other = 0;
  std::int64_t used = 0;  // number of elements used of more[other]
  for (const Stretch& stretch : sum) {
    std::int64_t left = stretch.count;
    while (left > 0 && other < more.size()) {
      const std::int64_t count = std::min(left, more[other].count - used);
      const std::int64_t first = stretch.first + stretch.count - left;
      const bool identical = first == more[other].first + used;
      if (count > 0)
        result.push_back(
            {count, identical ? sums.add(stretch.sum, more[other].sum) : Sums::kUnlike, first});
      left -= count;
      used += count;
      if (used == more[other].count) ++other, used = 0;
    }
    if (left > 0) result.push_back({left, stretch.sum, stretch.first + stretch.count - left});
  }
  sum = std::move(result);
}

SymbolicBuffer::SymbolicBuffer(std::int64_t elements) : elements_(elements) {
  if (elements > 0) cells_.push_back({0, elements, Sums::kUndefined, 0, {}, {}});
}

void SymbolicBuffer::fill(std::int64_t offset, const Stretch& content) {
  for (Cell& cell : cells_of(offset, offset + content.count)) {
    cell.sum = content.sum;
    cell.first = content.first + cell.begin - offset;
  }
}

std::size_t SymbolicBuffer::cut(std::int64_t at) {
  const auto after = std::partition_point(cells_.begin(), cells_.end(),
                                          [at](const Cell& cell) { return cell.end <= at; });
  const std::size_t index = after - cells_.begin();
  if (after == cells_.end() || after->begin == at) return index;
  Cell left = *after;
  left.end = at;
  after->first += at - after->begin;
  after->begin = at;
  cells_.insert(after, std::move(left));
  return index + 1;
}

SymbolicBuffer::Cells SymbolicBuffer::cells_of(std::int64_t begin, std::int64_t end) {
  if (begin == end) return {nullptr, nullptr};
  const std::size_t first = cut(begin);
  const std::size_t last = cut(end);
  return {cells_.data() + first, cells_.data() + last};
}

}  // namespace tutti::core
