#pragma once

#include <QScrollBar>
#include <QWidget>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "gui/paint/timeline_painter.h"
#include "gui/trace/layout.h"
#include "gui/trace/time_range.h"
#include "gui/trace/trace.h"
#include "gui/widgets/overlay.h"

namespace tutti::gui {

/// The timeline: rows of spans over time, which the user can zoom, move and select. The view has no
/// menus. The slots of the view implement the actions.
///
/// Lines are painted into one image of the window's size, which is repainted only when the content
/// of lines has changed. The selection, the cursor and texts are painted over this image in every
/// paint event.
class TimelineView : public QWidget {
  Q_OBJECT

 public:
  explicit TimelineView(QWidget* parent = nullptr);

  void show_trace(std::shared_ptr<const Trace> trace);
  /// Replaces the trace by a trace of the same two timelines with another alignment. Keeps pins,
  /// collapsed groups and the filter. If `range` is given, it becomes the visible range.
  void replace_trace(std::shared_ptr<const Trace> trace, const std::optional<TimeRange>& range);
  /// Sets how the lines of two timelines are arranged.
  void arrange(Arrangement arrangement);
  [[nodiscard]] Arrangement arrangement() const { return arrangement_; }
  void set_theme(const Theme& theme);
  /// Sets the data of counter lines; null: the data does not exist, or is not available yet.
  void show_traffic(std::shared_ptr<const Traffic> traffic);
  /// Adds an overlay, which is painted over the lines. REQUIRES: the overlay outlives the view.
  void add_overlay(const Overlay& overlay) { overlays_.push_back(&overlay); }

  [[nodiscard]] const Trace* trace() const { return trace_.get(); }
  [[nodiscard]] const std::shared_ptr<const Trace>& shared_trace() const { return trace_; }
  [[nodiscard]] const View& view() const { return view_; }
  [[nodiscard]] const Layout& layout_of_lines() const { return layout_; }
  [[nodiscard]] const std::optional<SpanId>& selected() const { return selected_; }
  /// Returns the spans in the other timeline that match the selected span.
  [[nodiscard]] const std::vector<SpanId>& partners() const { return partners_; }
  [[nodiscard]] const std::optional<TimeRange>& range() const { return range_; }
  /// Returns the keys of the lines to which the selected range is restricted; empty if the range
  /// covers all lines.
  [[nodiscard]] const std::set<std::string>& region() const { return region_; }
  /// Returns the rows that statistics count. Usually, these are the visible rows. If the selected
  /// range is restricted to some lines (a region), these are the visible rows that were on these
  /// lines when the region was selected.
  [[nodiscard]] std::vector<std::size_t> counted_rows() const;
  /// Returns the time under the mouse, or the time in the middle of the view if the mouse is
  /// elsewhere. Shortcuts that need a time use this time.
  [[nodiscard]] core::Time cursor_or_middle() const;
  [[nodiscard]] bool path_only() const { return path_only_; }
  [[nodiscard]] bool counters() const { return counters_; }
  /// Returns a picture of the current view, with all overlays except those that follow the mouse.
  [[nodiscard]] QImage picture(const QSize& size, qreal scale) const;
  /// Paints the current view as rectangles, lines and texts.
  void paint_shapes(QPainter& painter, const QSize& size) const;
  /// Returns the visible rows, including all rows of visible collapsed groups.
  [[nodiscard]] std::vector<std::size_t> visible_rows() const;
  /// Returns the spans in view that are at least some pixels wide, by line and then by time; at
  /// most 2,000. These are the spans that screen readers see.
  [[nodiscard]] const std::vector<SpanId>& readable_spans() const;
  /// Returns the box of a span in the widget; empty if the span is not in view.
  [[nodiscard]] QRect box_of(const SpanId& span) const;
  /// If the line at a point of the widget shows a counter or a link, describes the counter's value
  /// or the link's load at the time of the point. Otherwise, returns an empty text.
  [[nodiscard]] QString value_under(const QPoint& point) const;
  /// Describes a span in a few words: its kind, device, row, start and duration.
  [[nodiscard]] QString words_of(const SpanId& span) const;

  [[nodiscard]] QSize minimumSizeHint() const override { return {320, 160}; }

 public slots:
  void zoom_in();
  void zoom_out();
  void pan_left();
  void pan_right();
  void fit_selection();
  void fit_all();
  void back();
  void forward();
  void show_range(const tutti::gui::TimeRange& range);
  void glide_to(const tutti::gui::TimeRange& range);
  void settle();

  void select(const std::optional<tutti::gui::SpanId>& span);
  /// Selects a span and scrolls to it.
  void go_to(const tutti::gui::SpanId& span);
  /// Selects the matching span of the other timeline.
  void select_partner();
  void select_next();
  void select_previous();
  void select_range(const std::optional<tutti::gui::TimeRange>& range);
  /// Selects a range on the lines with indices from `first` to `last` only.
  void select_region(const tutti::gui::TimeRange& range, std::size_t first, std::size_t last);
  /// Moves the end of the region by `by` lines. If there is no region, creates a region of the
  /// current line only. The range of this region is the selected range or, if no range is selected,
  /// the visible range.
  void extend_region(int by);
  void clear_selection();

  void set_path_only(bool on);
  void next_on_path();
  void previous_on_path();

  void filter(const QString& text);
  void show_counters(bool on);
  /// Opens groups and scrolls, so that the line with this key is visible.
  void go_to_line(const QString& key);
  void open_all();
  void close_all();
  void pin_or_unpin();
  /// Moves the current line down by `by` lines. Selects the span in the new line that is nearest in
  /// time to the previously selected span.
  void walk_lines(int by);
  /// Opens or collapses the current group.
  void open_or_close();

 signals:
  /// Emitted when another timeline, or no timeline, is shown.
  void trace_changed();
  /// Emitted on a click on the time axis.
  void moment_wanted(tutti::core::Time t);
  /// Emitted when a link's line becomes the current line by a click or by keys.
  void link_chosen(qulonglong side, qulonglong link);
  void view_changed();
  /// Emitted when lines were filtered, opened, collapsed, pinned or rearranged.
  void lines_changed();
  void selection_changed();
  void range_changed();
  /// Emitted when the user asks for the context menu, after the span under the mouse was selected.
  void menu_wanted(const QPoint& global);
  /// Emitted with the time under the mouse; negative if the mouse is not over the timeline.
  void cursor_moved(qint64 picoseconds);

 protected:
  void paintEvent(QPaintEvent* event) override;
  void resizeEvent(QResizeEvent* event) override;
  void wheelEvent(QWheelEvent* event) override;
  void mousePressEvent(QMouseEvent* event) override;
  void mouseMoveEvent(QMouseEvent* event) override;
  void mouseReleaseEvent(QMouseEvent* event) override;
  void mouseDoubleClickEvent(QMouseEvent* event) override;
  void leaveEvent(QEvent* event) override;
  void contextMenuEvent(QContextMenuEvent* event) override;
  void keyPressEvent(QKeyEvent* event) override;
  void keyReleaseEvent(QKeyEvent* event) override;
  void focusInEvent(QFocusEvent* event) override;
  void focusOutEvent(QFocusEvent* event) override;
  bool event(QEvent* event) override;

 private:
  enum class Drag { kNone, kRange, kPan, kZoom };

  [[nodiscard]] Scene scene() const;
  [[nodiscard]] core::Time time_under(double x) const;
  [[nodiscard]] std::optional<SpanId> span_under(const QPoint& point) const;
  /// Returns the difference between the two timelines that is drawn at a point of the widget; null
  /// if no difference is drawn there.
  [[nodiscard]] const Difference* error_under(const QPoint& point) const;
  [[nodiscard]] std::size_t line_under(const QPoint& point) const;
  void zoom(double factor, core::Time at);
  void lines_have_changed();
  void repaint_lines();
  void place_scroll_bar();
  void scroll_to(std::size_t line);
  /// Returns true if the whole line is in view, in a widget of this size.
  [[nodiscard]] bool is_in_view(std::size_t line, const QSize& size) const;
  [[nodiscard]] std::optional<SpanId> nearest_span(std::size_t row) const;
  void step_along_path(int by);
  void bring_path_into_view();
  void scroll_to_both(std::size_t line);
  void paint_overlays(QPainter& painter, const QRect& lines) const;
  [[nodiscard]] QRegion covered_of_axis(const QRect& lines, const QFontMetrics& metrics) const;
  void paint_without_rows(QPainter& painter, const QRect& lines) const;
  void paint_unrecorded(QPainter& painter, const QRect& lines) const;
  void paint_line_at_hand(QPainter& painter, const QRect& lines) const;
  void paint_range(QPainter& painter, const Placement& place, const QRect& lines) const;
  /// Returns the index of the line with this key; lines().size() if there is none.
  [[nodiscard]] std::size_t line_with_key(const std::string& key) const;

  std::shared_ptr<const Trace> trace_;
  std::shared_ptr<const Traffic> traffic_;
  bool counters_ = true;
  const Theme* theme_ = nullptr;
  View view_;
  Layout layout_;
  Arrangement arrangement_ = Arrangement::kPairs;
  QScrollBar* scroll_bar_;
  PaintedLines painted_;
  bool image_is_old_ = true;
  ShortTexts texts_;
  std::vector<const Overlay*> overlays_;
  std::optional<SpanId> selected_;
  std::vector<SpanId> partners_;  ///< spans of the other timeline that match the selected span
  std::optional<TimeRange> range_;
  std::set<std::string> region_;
  std::vector<std::size_t> region_rows_;  ///< the rows of the region's lines, sorted
  /// The keys of the lines at which the region begins and ends; either may be the upper one.
  std::string region_begin_, region_end_;
  /// The result of readable_spans(); nullopt: must be computed again.
  mutable std::optional<std::vector<SpanId>> readable_;
  /// The key of the current line, that is, the line that was last clicked or reached by keys.
  std::string line_at_hand_;
  std::optional<std::size_t> piece_of_path_;
  bool path_only_ = false;
  bool space_held_ = false;
  Drag drag_ = Drag::kNone;
  QPoint pressed_;
  TimeRange pressed_range_;
  std::optional<QPoint> mouse_;
};

}  // namespace tutti::gui
