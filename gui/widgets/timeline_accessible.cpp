// Qt asks a factory for the interface of a widget, and the interface of a timeline creates an
// interface for each span that a screen reader asks for. Qt owns both kinds once they are
// registered, and refers to them by numbers. The timeline keeps the numbers of its spans, so that a
// span has the same interface while it is in view, and deletes them with itself or when another
// timeline is shown.

#include "gui/widgets/timeline_accessible.h"

#include <QAccessible>
#include <QAccessibleWidget>
#include <QPointer>
#include <algorithm>
#include <map>
#include <utility>

#include "core/base/format.h"
#include "gui/paint/text_of.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

namespace {

class SpanItem : public QAccessibleInterface {
 public:
  SpanItem(TimelineView& view, SpanId span)
      : view_(&view), trace_(view.shared_trace()), span_(span) {}

  /// Returns false if the span's timeline is not shown any more.
  [[nodiscard]] bool isValid() const override {
    return view_ && view_->trace() && view_->shared_trace() == trace_.lock();
  }
  [[nodiscard]] QObject* object() const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* childAt(int, int) const override { return nullptr; }
  [[nodiscard]] QAccessibleInterface* parent() const override {
    return view_ ? QAccessible::queryAccessibleInterface(view_) : nullptr;
  }
  [[nodiscard]] QAccessibleInterface* child(int) const override { return nullptr; }
  [[nodiscard]] int childCount() const override { return 0; }
  [[nodiscard]] int indexOfChild(const QAccessibleInterface*) const override { return -1; }
  [[nodiscard]] QAccessible::Role role() const override { return QAccessible::ListItem; }

  [[nodiscard]] QString text(QAccessible::Text kind) const override {
    if (!isValid()) return {};
    if (kind == QAccessible::Name) return view_->words_of(span_);
    if (kind == QAccessible::Value)
      return text_of(view_->trace()->rows()[span_.row].spans.duration(span_.index));
    return {};
  }
  void setText(QAccessible::Text, const QString&) override {}

  [[nodiscard]] QRect rect() const override {
    if (!isValid()) return {};
    const QRect box = view_->box_of(span_);
    return box.isEmpty() ? QRect() : QRect(view_->mapToGlobal(box.topLeft()), box.size());
  }
  [[nodiscard]] QAccessible::State state() const override {
    QAccessible::State state;
    if (!isValid()) {
      state.invalid = true;
      return state;
    }
    state.selectable = true;
    state.focusable = true;
    state.selected = view_->selected() == span_;
    state.focused = state.selected && view_->hasFocus();
    state.offscreen = view_->box_of(span_).isEmpty();
    return state;
  }

 private:
  QPointer<TimelineView> view_;
  std::weak_ptr<const Trace> trace_;  // a closed timeline must not stay in memory
  SpanId span_;
};

class TimelineItem : public QAccessibleWidget {
 public:
  explicit TimelineItem(TimelineView& view)
      : QAccessibleWidget(&view, QAccessible::List), view_(view) {}
  ~TimelineItem() override { forget_spans(); }

  [[nodiscard]] int childCount() const override {
    return static_cast<int>(view_.readable_spans().size());
  }
  [[nodiscard]] QAccessibleInterface* child(int index) const override {
    const std::vector<SpanId>& spans = view_.readable_spans();
    if (index < 0 || index >= static_cast<int>(spans.size())) return nullptr;
    return item_of(spans[static_cast<std::size_t>(index)]);
  }
  [[nodiscard]] int indexOfChild(const QAccessibleInterface* child) const override {
    const std::vector<SpanId>& spans = view_.readable_spans();
    for (const auto& [place, id] : items_) {
      if (QAccessible::accessibleInterface(id) != child) continue;
      const auto found = std::find(spans.begin(), spans.end(), SpanId{place.first, place.second});
      return found == spans.end() ? -1 : static_cast<int>(found - spans.begin());
    }
    return -1;
  }
  [[nodiscard]] QAccessibleInterface* childAt(int x, int y) const override {
    const QPoint point = view_.mapFromGlobal(QPoint(x, y));
    for (const SpanId& span : view_.readable_spans()) {
      if (view_.box_of(span).contains(point)) return item_of(span);
    }
    return nullptr;
  }
  [[nodiscard]] QAccessibleInterface* focusChild() const override {
    return view_.hasFocus() && view_.selected() ? item_of(*view_.selected()) : nullptr;
  }
  [[nodiscard]] QString text(QAccessible::Text kind) const override {
    if (kind != QAccessible::Value || !view_.trace()) return QAccessibleWidget::text(kind);
    const TimeRange& seen = view_.view().range();
    return TimelineView::tr("%1 to %2 of %3, %4 spans in %5 rows")
        .arg(text_of(seen.from), text_of(seen.to), text_of(view_.view().run_length()))
        .arg(view_.trace()->spans())
        .arg(view_.trace()->rows().size());
  }

 private:
  [[nodiscard]] QAccessibleInterface* item_of(const SpanId& span) const {
    // Spans that were in view long ago are forgotten together.
    constexpr std::size_t kMany = 10'000;
    if (trace_.lock() != view_.shared_trace() || items_.size() > kMany) forget_spans();
    trace_ = view_.shared_trace();
    const auto [item, is_new] = items_.emplace(std::pair(span.row, span.index), 0);
    if (is_new) item->second = QAccessible::registerAccessibleInterface(new SpanItem(view_, span));
    return QAccessible::accessibleInterface(item->second);
  }
  void forget_spans() const {
    for (const auto& [place, id] : items_) QAccessible::deleteAccessibleInterface(id);
    items_.clear();
  }

  TimelineView& view_;
  mutable std::weak_ptr<const Trace> trace_;  ///< the timeline of the items
  mutable std::map<std::pair<std::size_t, SpanRow::Index>, QAccessible::Id> items_;
};

QAccessibleInterface* make_interface(const QString&, QObject* object) {
  auto* const view = qobject_cast<TimelineView*>(object);
  return view ? new TimelineItem(*view) : nullptr;
}

}  // namespace

void make_timelines_accessible() {
  static const bool once = [] {
    QAccessible::installFactory(make_interface);
    return true;
  }();
  static_cast<void>(once);
}

void report_focus(TimelineView& view) {
  if (!QAccessible::isActive() || !view.selected()) return;
  const std::vector<SpanId>& spans = view.readable_spans();
  const auto span = std::find(spans.begin(), spans.end(), *view.selected());
  if (span == spans.end()) return;
  QAccessibleEvent focus(&view, QAccessible::Focus);
  focus.setChild(static_cast<int>(span - spans.begin()));
  QAccessible::updateAccessibility(&focus);
}

const std::vector<SpanId>& TimelineView::readable_spans() const {
  if (readable_) return *readable_;
  constexpr int kMinWidth = 4;
  constexpr std::size_t kMost = 2'000;
  std::vector<SpanId>& found = readable_.emplace();
  if (!trace_) return found;
  const QRect lines = lines_rect(size());
  const TimeRange& range = view_.range();
  const core::Time least(
      std::max<std::int64_t>(1, range.length().count() / lines.width() * kMinWidth));
  for (std::size_t i = 0; i < layout_.lines().size(); ++i) {
    const Line& line = layout_.lines()[i];
    const int top = lines.top() + top_of_line(scene(), i);
    if (line.kind != Line::Kind::kSpans || top + line.height <= lines.top() || top > lines.bottom())
      continue;
    const SpanRow& spans = trace_->rows()[line.rows.front()].spans;
    SpanRow::Index first = spans.first_from(range.from);
    if (first > 0 && spans.end(first - 1) > range.from) --first;
    // The longest span divides its range into two ranges of shorter spans.
    std::vector<std::pair<SpanRow::Index, SpanRow::Index>> left{
        {first, spans.first_from(range.to)}};
    std::vector<SpanRow::Index> wide;
    while (!left.empty() && found.size() + wide.size() < kMost) {
      const auto [from, to] = left.back();
      left.pop_back();
      if (from >= to) continue;
      const SpanRow::Index longest = spans.longest(from, to);
      if (spans.duration(longest) < least) continue;
      wide.push_back(longest);
      left.emplace_back(from, longest);
      left.emplace_back(longest + 1, to);
    }
    std::sort(wide.begin(), wide.end());
    for (const SpanRow::Index index : wide) found.push_back({line.rows.front(), index});
  }
  return found;
}

QRect TimelineView::box_of(const SpanId& span) const {
  if (!trace_) return {};
  const Scene shown = scene();
  const QRect lines = lines_rect(size());
  return Placement{shown, lines}.box_of(span) & lines;
}

QString TimelineView::words_of(const SpanId& span) const {
  const Trace::Row& row = trace_->rows()[span.row];
  const QString kind = text_of(core::span_name(row.spans.kind(span.index)));
  const QString label = text_of(label_of(*trace_, span.row, span.index));
  return tr("%1, %2 of %3/%4, from %5 for %6")
      .arg(label.contains(kind) ? label : tr("%1, %2").arg(label, kind), text_of(row.name),
           text_of(row.group), text_of(row.track.device), text_of(row.spans.start(span.index)),
           text_of(row.spans.duration(span.index)));
}

}  // namespace tutti::gui
