#include "gui/paint/row_texts.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace tutti::gui {

namespace {

constexpr int kStretch = 15;  ///< number of neighbouring pixels that are examined together
constexpr int kRun = 60;      ///< the minimum width in pixels of a run of spans with a text
constexpr int kNone = -1;

/// Returns the kind of span that fills more than half of the pixel columns `from` to `to` - 1;
/// kNone if there is no such kind, if a column is empty, or if spans cover less than half of the
/// area.
int filled_with(const std::vector<Column>& columns, std::size_t from, std::size_t to) {
  std::array<std::uint16_t, 256> pixels{};
  std::uint64_t filled = 0;
  int most = 0;
  for (std::size_t x = from; x < to; ++x) {
    if (columns[x].filled == 0) return kNone;  // a text must not run across a gap
    filled += columns[x].filled;
    if (columns[x].filled > 0 && ++pixels[columns[x].kind] > pixels[most]) most = columns[x].kind;
  }
  const bool full = 2 * filled >= (to - from) * Column::kFull;
  return full && 2 * pixels[most] > to - from ? most : kNone;
}

}  // namespace

RowTexts texts_of(const RowRaster& raster, double scale) {
  const auto device = [scale](int logical) {
    return static_cast<std::size_t>(std::lround(logical * scale));
  };
  const std::vector<Column>& columns = raster.columns();
  RowTexts texts;
  const auto add_run = [&](std::size_t from, std::size_t to, int kind) {
    if (kind == kNone || to - from < device(kRun)) return;
    texts.runs.push_back({static_cast<int>(static_cast<double>(from) / scale),
                          static_cast<int>(static_cast<double>(to) / scale),
                          static_cast<std::uint8_t>(kind)});
  };
  // Subtract two pixels, because a span may share its first and its last pixel with other spans.
  const std::size_t wide = device(kNarrowText - 2);
  auto next_wide = raster.alone().begin();
  int kind = kNone;
  std::size_t begin = 0;
  for (std::size_t from = 0; from < columns.size(); from += device(kStretch)) {
    const std::size_t to = std::min(columns.size(), from + device(kStretch));
    bool has_wide = false;
    for (; next_wide != raster.alone().end() && next_wide->from < to; ++next_wide) {
      has_wide = true;  // a span with a border has its own text or none
      if (next_wide->from >= from && next_wide->to - next_wide->from >= wide)
        texts.wide.push_back(next_wide->span);
      if (next_wide->to > to) break;  // the next stretch also contains it
    }
    const int here = has_wide ? kNone : filled_with(columns, from, to);
    if (here == kind) continue;
    add_run(begin, from, kind);
    kind = here;
    begin = from;
  }
  add_run(begin, columns.size(), kind);
  return texts;
}

bool is_mostly(const SpanRow& spans, const TimeRange& range, int kind) {
  constexpr SpanRow::Index kExamined = 256;
  SpanRow::Index first = spans.first_from(range.from), end = spans.first_from(range.to);
  if (end - first > kExamined) {
    first += (end - first - kExamined) / 2;
    end = first + kExamined;
  }
  double of_kind = 0, all = 0;
  for (SpanRow::Index i = first; i < end; ++i) {
    const auto time = static_cast<double>(spans.duration(i).count());
    all += time;
    if (spans.kind(i) == kind) of_kind += time;
  }
  return 3 * of_kind > 2 * all;
}

}  // namespace tutti::gui
