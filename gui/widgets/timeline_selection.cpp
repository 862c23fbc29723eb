// Selection of spans, and navigation between them.

#include "gui/widgets/timeline_view.h"

#include <algorithm>
#include <iterator>

#include "gui/widgets/timeline_accessible.h"

namespace tutti::gui {

using core::Time;

void TimelineView::select(const std::optional<SpanId>& span) {
  if (selected_ == span) return;
  selected_ = span;
  partners_ =
      span && trace_ && trace_->parts() ? trace_->parts()->partners(*span) : std::vector<SpanId>();
  setAccessibleDescription(span && trace_ ? words_of(*span)
                                          : tr("Rows of spans over time; no span is selected"));
  update();
  emit selection_changed();
  report_focus(*this);
}

void TimelineView::select_partner() {
  if (partners_.empty()) return;
  const SpanId partner = partners_.front();  // copied, since selecting it replaces partners_
  go_to(partner);
}

void TimelineView::go_to(const SpanId& span) {
  if (!trace_ || span.row >= trace_->rows().size() ||
      span.index >= trace_->rows()[span.row].spans.size())
    return;
  layout_.reveal(span.row);
  lines_have_changed();
  const SpanRow& spans = trace_->rows()[span.row].spans;
  const Time start = spans.start(span.index), end = spans.end(span.index);
  const TimeRange& seen = view_.range();
  if (end < seen.from || start > seen.to || spans.duration(span.index) > seen.length()) {
    const Time length = std::max(seen.length(), Time(spans.duration(span.index).count() * 2));
    const Time middle = start + Time(spans.duration(span.index).count() / 2);
    show_range({middle - Time(length.count() / 2), middle + Time(length.count() / 2)});
  }
  const std::size_t line = layout_.line_of_row(span.row);
  if (line < layout_.lines().size()) line_at_hand_ = layout_.lines()[line].key;
  select(span);
  scroll_to_both(line);
}

void TimelineView::select_next() {
  if (!trace_) return;
  if (!selected_) return walk_lines(1);
  if (selected_->index + 1 < trace_->rows()[selected_->row].spans.size())
    go_to({selected_->row, selected_->index + 1});
}

void TimelineView::select_previous() {
  if (trace_ && selected_ && selected_->index > 0) go_to({selected_->row, selected_->index - 1});
}

void TimelineView::select_range(const std::optional<TimeRange>& range) {
  range_ = range;
  region_.clear();
  region_rows_.clear();
  update();
  emit range_changed();
}

void TimelineView::select_region(const TimeRange& range, std::size_t first, std::size_t last) {
  const auto& lines = layout_.lines();
  if (lines.empty()) return;
  last = std::min(last, lines.size() - 1);
  first = std::min(first, last);
  range_ = range;
  region_.clear();
  region_rows_.clear();
  for (std::size_t i = first; i <= last; ++i) {
    const Line& line = lines[i];
    region_.insert(line.key);
    // The content of an open group has lines of its own.
    if (line.kind == Line::Kind::kSpans || (line.is_group() && !line.open))
      region_rows_.insert(region_rows_.end(), line.rows.begin(), line.rows.end());
  }
  std::sort(region_rows_.begin(), region_rows_.end());
  region_rows_.erase(std::unique(region_rows_.begin(), region_rows_.end()), region_rows_.end());
  region_begin_ = lines[first].key;
  region_end_ = lines[last].key;
  update();
  emit range_changed();
}

void TimelineView::extend_region(int by) {
  const auto& lines = layout_.lines();
  if (!trace_ || lines.empty()) return;
  const auto index = [&](const std::string& key, std::size_t otherwise) {
    const std::size_t line = line_with_key(key);
    return line < lines.size() ? line : otherwise;
  };
  const bool is_new = region_.empty();
  const std::size_t begin = index(is_new ? line_at_hand_ : region_begin_, 0);
  auto end = static_cast<std::ptrdiff_t>(is_new ? begin : index(region_end_, begin));
  if (!is_new)
    end = std::clamp(end + by, std::ptrdiff_t{0}, static_cast<std::ptrdiff_t>(lines.size()) - 1);
  const auto last = static_cast<std::size_t>(end);
  select_region(range_.value_or(view_.range()), std::min(begin, last), std::max(begin, last));
  region_begin_ = lines[begin].key;
  region_end_ = lines[last].key;
  scroll_to(last);
}

std::vector<std::size_t> TimelineView::counted_rows() const {
  if (region_.empty()) return visible_rows();
  const std::vector<std::size_t> visible = visible_rows();
  std::vector<std::size_t> rows;
  std::set_intersection(visible.begin(), visible.end(), region_rows_.begin(), region_rows_.end(),
                        std::back_inserter(rows));
  return rows;
}

void TimelineView::clear_selection() {
  select(std::nullopt);
  select_range(std::nullopt);
}

void TimelineView::set_path_only(bool on) {
  path_only_ = on;
  repaint_lines();
  if (on && trace_) bring_path_into_view();
}

/// Moves the view such that a part of the critical path is visible: to the time of the path, if all
/// of the path is outside the visible range, and to the row with the longest part of the path, if
/// no visible row has a part.
void TimelineView::bring_path_into_view() {
  std::size_t best = trace_->rows().size();
  TimeRange whole{core::kNever, Time()};
  const auto longest_in = [&](const TimeRange& range) {
    Time longest;
    for (std::size_t r = 0; r < trace_->rows().size(); ++r) {
      Time sum;
      for (const OnPath& part : trace_->on_path(r)) {
        whole = {std::min(whole.from, part.at.from), std::max(whole.to, part.at.to)};
        sum +=
            std::max(Time(), std::min(range.to, part.at.to) - std::max(range.from, part.at.from));
      }
      if (sum > longest) longest = sum, best = r;
    }
    return longest;
  };
  if (longest_in(view_.range()) <= Time()) {
    if (whole.from >= whole.to) return;  // no span of the path was recorded
    const Time margin((whole.to - whole.from).count() / 20);
    show_range(
        {std::max(Time(), whole.from - margin), std::min(view_.run_length(), whole.to + margin)});
    longest_in(view_.range());
  }
  const QRect area = lines_rect(size());
  const Scene shown = scene();
  for (std::size_t i = 0; i < layout_.lines().size(); ++i) {
    const Line& line = layout_.lines()[i];
    const int top = top_of_line(shown, i);
    const bool is_visible = top >= 0 && top + line.height <= area.height();
    if (line.kind != Line::Kind::kSpans || !is_visible) continue;
    for (const OnPath& part : trace_->on_path(line.rows.front())) {
      if (part.at.from < view_.range().to && part.at.to > view_.range().from) return;
    }
  }
  const std::size_t line = layout_.line_with_row(best);
  if (line < layout_.lines().size())
    scroll_bar_->setValue(layout_.lines()[line].top - area.height() / 2);
}

void TimelineView::next_on_path() { step_along_path(1); }
void TimelineView::previous_on_path() { step_along_path(-1); }

/// Goes to the next or previous activity on the critical path. If the activity's span was recorded,
/// selects the span.
void TimelineView::step_along_path(int by) {
  if (!trace_) return;
  // If there are two timelines, follow the critical path of the timeline that has the selection.
  const std::size_t side = selected_ ? trace_->rows()[selected_->row].side : 0;
  const std::vector<core::PathPiece>& path = trace_->sides()[side].path;
  if (path.empty()) return;
  const auto count = static_cast<std::ptrdiff_t>(path.size());
  std::ptrdiff_t next = by > 0 ? 0 : count - 1;
  if (piece_of_path_)
    next =
        std::clamp(static_cast<std::ptrdiff_t>(*piece_of_path_) + by, std::ptrdiff_t{0}, count - 1);
  piece_of_path_ = static_cast<std::size_t>(next);
  const core::PathPiece& piece = path[*piece_of_path_];
  const Time margin((piece.end - piece.start).count() / 2 + 1);
  select_range(TimeRange{piece.start, piece.end});
  show_range({piece.start - margin, piece.end + margin});
  const Time middle = piece.start + Time((piece.end - piece.start).count() / 2);
  for (std::size_t r = 0; r < trace_->rows().size(); ++r) {
    const Trace::Row& row = trace_->rows()[r];
    const bool its =
        "w" + std::to_string(row.track.worker) + '/' + row.track.device == piece.device;
    if (!its || row.side != side || row.track.kind == core::TrackKind::kLane) continue;
    const SpanRow::Index at = row.spans.at(middle);
    if (at < row.spans.size() && row.spans.kind(at) == piece.kind &&
        (piece.pack < 0 || row.spans.pack(at) == piece.pack))
      return go_to({r, at});
  }
}

}  // namespace tutti::gui
