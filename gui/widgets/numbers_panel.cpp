// Decides when and in which thread gui/trace/statistics.h computes statistics. The statistics of up
// to 20,000 spans in 64 rows are computed immediately. For more spans, a thread computes the
// statistics. For more than two million spans, statistics are computed only for a range that the
// user has selected, because the visible range changes too often. For more than 100,000 spans,
// bytes are not summed up, since they have to be read from the file. A change of the input cancels
// the computation and waits for its thread.

#include "gui/widgets/numbers_panel.h"

#include <QEvent>
#include <QHeaderView>
#include <QVBoxLayout>
#include <algorithm>
#include <utility>

#include "core/base/format.h"
#include "gui/paint/text_of.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/table.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

using core::Time;

namespace {

/// If the visible range has more spans than this, its statistics are not computed, because the user
/// would change the range before they are complete.
constexpr std::int64_t kQuick = 2'000'000;

/// If there are more spans or rows than this, a thread computes the statistics, because the
/// computation would delay zooming and panning. (Each row requires at least one block of the file.)
constexpr std::int64_t kAtOnce = 20'000;
constexpr std::size_t kRowsAtOnce = 64;

/// If there are more spans than this, bytes are not summed up, since they have to be read from the
/// file.
constexpr std::int64_t kQuickToRead = 100'000;

constexpr int kBytesColumn = 4;

}  // namespace

NumbersPanel::NumbersPanel(const TimelineView& view)
    : view_(view),
      table_(make_table({tr("kind"), tr("count"), tr("sum"), tr("busy"), tr("bytes"), tr("mean"),
                         tr("p50"), tr("p99"), tr("longest")},
                        tr("Numbers of the range"))) {
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(table_);
  // Elide names in the middle, since both ends of a name such as "w0/gpu1, receive-send" are
  // informative.
  table_->setTextElideMode(Qt::ElideMiddle);
  table_->horizontalHeader()->setStretchLastSection(false);
  set_empty_text(*table_, tr("There are no spans in this range and these rows."));
  table_->viewport()->installEventFilter(this);
  // Do not use Qt's sorting, which would reserve space for an arrow in each header.
  table_->horizontalHeader()->setSectionsClickable(true);
  connect(table_->horizontalHeader(), &QHeaderView::sectionClicked, this, &NumbersPanel::sort_by);
  connect(&view_, &TimelineView::view_changed, this, &NumbersPanel::update_numbers);
  connect(&view_, &TimelineView::range_changed, this, &NumbersPanel::update_numbers);
  connect(&view_, &TimelineView::lines_changed, this, &NumbersPanel::update_numbers);
}

void NumbersPanel::set_seen(bool seen) {
  seen_ = seen;
  update_numbers();
}

void NumbersPanel::add_actions(Actions& actions) {
  actions.add_switch(
      tr("R&ows"), "numbers-by-device", tr("Num&bers per device"), QStringLiteral("Ctrl+B"),
      [this] {
        by_device_ = !by_device_;
        update_numbers();
        emit by_device_changed();
      },
      [this] { return by_device_; });
}

NumbersPanel::Wanted NumbersPanel::wanted() const {
  return {view_.shared_trace(), view_.counted_rows(), view_.range().value_or(view_.view().range()),
          view_.range().has_value(), by_device_};
}

void NumbersPanel::update_numbers() {
  if (!seen_ || !view_.trace()) {
    discard_computation();
    shown_.reset();  // the reference would keep the timeline in memory
    return table_->setRowCount(0);
  }
  const Wanted now = wanted();
  if (shown_ == now) return;
  discard_computation();
  const bool other_trace = !shown_ || shown_->trace != now.trace;
  shown_ = now;
  const std::int64_t spans = spans_in(*now.trace, now.rows, now.range);
  if (!now.selected && spans > kQuick)
    return show_words(tr("too many spans: select a range, or zoom in"));
  const bool bytes = spans <= kQuickToRead;
  ++begun_;
  if (spans <= kAtOnce && now.rows.size() <= kRowsAtOnce)
    return show_all(statistics_of(*now.trace, now.rows, now.range, {now.by_device, bytes}));
  if (other_trace) table_->setRowCount(0);
  compute_in_thread(now, bytes);
}

void NumbersPanel::compute_in_thread(const Wanted& wanted, bool bytes) {
  ++begun_in_thread_;
  table_->setEnabled(false);
  task_.begin([wanted, bytes](const std::atomic<bool>& stop) {
    return statistics_of(*wanted.trace, wanted.rows, wanted.range,
                         {wanted.by_device, bytes, &stop});
  });
}

void NumbersPanel::discard_computation() {
  task_.drop_and_wait();
  table_->setEnabled(true);
}

void NumbersPanel::finish() { task_.finish(); }

void NumbersPanel::take_result(const core::Expected<RangeStatistics>& result) {
  result ? show_all(*result) : show_words(QString::fromStdString(result.error().message()));
  table_->setEnabled(true);
}

/// Shows a text instead of the table of statistics.
void NumbersPanel::show_words(const QString& words) {
  table_->clearSpans();
  table_->setRowCount(0);
  table_->setRowCount(1);
  table_->setSpan(0, 0, 1, table_->columnCount());
  set_row(*table_, 0, {words});
}

void NumbersPanel::show_all(const RangeStatistics& all) {
  table_->clearSpans();
  table_->setRowCount(static_cast<int>(all.kinds.size()));
  for (std::size_t i = 0; i < all.kinds.size(); ++i)
    show_numbers(static_cast<int>(i), all.kinds[i]);
  if (sorted_by_) table_->sortItems(sorted_by_->first, sorted_by_->second);
  fit_columns(*table_);
}

/// Sorts the rows by a column; a second click reverses the order. Numbers are sorted in descending
/// order, and names in alphabetical order.
void NumbersPanel::sort_by(int column) {
  const Qt::SortOrder first = column == 0 ? Qt::AscendingOrder : Qt::DescendingOrder;
  const bool again = sorted_by_ == std::pair(column, first);
  sorted_by_ = {column, !again                        ? first
                        : first == Qt::AscendingOrder ? Qt::DescendingOrder
                                                      : Qt::AscendingOrder};
  table_->sortItems(sorted_by_->first, sorted_by_->second);
}

void NumbersPanel::show_numbers(int row, const KindStatistics& k) {
  const bool has_bytes = k.bytes && k.bytes->count() > 0;
  set_row(*table_, row, {name_of(k)});
  const auto number = [&](int column, const QString& text, double value) {
    table_->setItem(row, column, new NumberItem(text, value));
  };
  const auto time = [&](int column, Time t) {
    number(column, text_of(t), static_cast<double>(t.count()));
  };
  number(1, QString::number(k.spans), static_cast<double>(k.spans));
  time(2, k.sum);
  number(3, QStringLiteral("%1 %").arg(100 * k.busy, 0, 'f', 1), k.busy);
  number(kBytesColumn,
         has_bytes ? QString::fromStdString(core::show(*k.bytes))
         : k.bytes ? QString()
                   : tr("…"),
         k.bytes ? static_cast<double>(k.bytes->count()) : -1);
  time(5, k.mean());
  time(6, k.p50);
  time(7, k.p99);
  time(8, k.longest);
  if (k.bytes) return;
  const QString why = tr("there are too many spans to count their bytes; select a range");
  QTableWidgetItem* const bytes = table_->item(row, kBytesColumn);
  bytes->setToolTip(why);
  bytes->setData(Qt::AccessibleDescriptionRole, why);
}

/// Updates the widths of columns when the size of the panel changes, or when its scroll bar
/// appears.
bool NumbersPanel::eventFilter(QObject* watched, QEvent* event) {
  if (event->type() == QEvent::Resize) fit_columns(*table_);
  return QWidget::eventFilter(watched, event);
}

/// Returns the name of the row: the kind, the device, and, if there are two timelines, the name of
/// the timeline.
QString NumbersPanel::name_of(const KindStatistics& k) const {
  QString kind = QString::fromStdString(core::span_name(k.kind));
  if (!k.device.empty()) kind = tr("%1, %2").arg(QString::fromStdString(k.device), kind);
  const auto& sides = view_.trace()->sides();
  return sides.size() < 2 ? kind
                          : tr("%1, %2").arg(kind, QString::fromStdString(sides[k.side].name));
}

QString NumbersPanel::csv() const {
  const auto& sides = view_.trace()->sides();
  const auto quoted = [](std::string name) {
    std::replace(name.begin(), name.end(), '"', '\'');
    return QLatin1Char('"') + QString::fromStdString(name) + QLatin1String("\",");
  };
  QString text = sides.size() < 2 ? QString() : QStringLiteral("timeline,");
  text += by_device_ ? QStringLiteral("device,") : QString();
  text += QStringLiteral("kind,count,sum_us,mean_us,p50_us,p99_us,longest_us,busy,bytes\n");
  const Wanted now = wanted();
  for (const KindStatistics& k :
       statistics_of(*now.trace, now.rows, now.range, {by_device_, true}).kinds) {
    if (sides.size() > 1) text += quoted(sides[k.side].name);
    if (by_device_) text += quoted(k.device);
    text += QString::fromStdString(core::span_name(k.kind)) + QLatin1Char(',') +
            QString::number(k.spans);
    for (const Time t : {k.sum, k.mean(), k.p50, k.p99, k.longest})
      text += QLatin1Char(',') + QString::number(core::to_us(t), 'f', 6);
    text += QStringLiteral(",%1,").arg(k.busy, 0, 'f', 6);
    text += (k.bytes ? QString::number(k.bytes->count()) : QString()) + QLatin1Char('\n');
  }
  return text;
}

}  // namespace tutti::gui
