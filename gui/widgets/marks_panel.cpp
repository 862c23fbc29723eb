// After every change of a mark, the list is filled again, and the whole file of marks is rewritten.
// A temporary file is written first, and then replaces the old file. The user therefore need not
// save marks, and a crash loses none. Another window may show the same timeline. The file is
// therefore read before it is written, and marks that the other window has added are kept. If the
// file cannot be read, path_ is cleared, so that the file is not overwritten. `filling_`
// distinguishes changes of cells by this panel from edits by the user.
//
// The flags on the axis are an overlay of the view, not widgets. The positions of the flags are
// computed each time the view is painted. The axis has no labels in the region that the flags
// cover. Marks and the format of their file are in gui/trace/marks.h.

#include "gui/widgets/marks_panel.h"

#include <QFileInfo>
#include <QHeaderView>
#include <QPainter>
#include <QSaveFile>
#include <QTimer>
#include <QVBoxLayout>
#include <algorithm>

#include "core/base/file.h"
#include "core/base/format.h"
#include "gui/widgets/actions.h"
#include "gui/widgets/table.h"
#include "gui/widgets/timeline_view.h"

namespace tutti::gui {

using core::Time;

namespace {

constexpr int kTextColumn = 0, kFromColumn = 1, kLengthColumn = 2;
constexpr int kFlag = 120;  ///< maximum width in pixels

}  // namespace

MarksPanel::MarksPanel(TimelineView& view)
    : view_(view), table_(make_table({tr("mark"), tr("at"), tr("lasts")}, tr("Marks"))) {
  view.add_overlay(*this);
  auto* const layout = new QVBoxLayout(this);
  layout->setContentsMargins(0, 0, 0, 0);
  layout->addWidget(table_);
  table_->setEditTriggers(QAbstractItemView::DoubleClicked | QAbstractItemView::EditKeyPressed);
  table_->setSelectionMode(QAbstractItemView::SingleSelection);
  table_->horizontalHeader()->setSectionResizeMode(kTextColumn, QHeaderView::Stretch);
  table_->horizontalHeader()->setStretchLastSection(false);
  set_empty_text(*table_, tr("There are no marks. M marks the selected range or span, or the time "
                             "under the mouse."));
  connect(table_, &QTableWidget::cellChanged, this, [this](int row, int) {
    if (!filling_) rename(row);
  });
  connect(table_, &QTableWidget::cellActivated, this,
          [this](int row, int) { go_to(static_cast<std::size_t>(row)); });
  connect(table_, &QTableWidget::cellClicked, this,
          [this](int row, int) { go_to(static_cast<std::size_t>(row)); });
}

void MarksPanel::add_actions(Actions& actions) {
  const QString select = tr("&Select");
  actions.begin_section(select);
  actions.add(select, "mark", tr("&Mark the selected range, or the span under the mouse"),
              QStringLiteral("M"), [this] { mark_here(); });
  actions.add(select, "mark-next", tr("Next mark"), QStringLiteral("Shift+M"),
              [this] { walk(true); });
  actions.add(select, "mark-previous", tr("Previous mark"), QStringLiteral("Ctrl+Shift+M"),
              [this] { walk(false); });
  actions.add(select, "mark-delete", tr("Delete the mark selected in the list"),
              QStringLiteral("Ctrl+Del"), [this] { remove_selected(); });
}

void MarksPanel::open_marks_of(const QString& timeline) {
  marks_ = {};
  path_.clear();
  if (!timeline.isEmpty()) path_ = QString::fromStdString(Marks::path_of(timeline.toStdString()));
  if (!path_.isEmpty() && QFileInfo::exists(path_)) {
    const auto read = read_file();
    if (read) {
      marks_ = *read;
    } else {
      emit status_message(
          tr("%1 (new marks are not saved)").arg(QString::fromStdString(read.error().message())));
      path_.clear();
    }
  }
  saved_ = marks_;
  fill();
}

core::Expected<Marks> MarksPanel::read_file() const {
  const std::string path = path_.toStdString();
  return core::read_text_file(path).and_then(
      [&](const std::string& text) { return Marks::read(text, path); });
}

void MarksPanel::mark_here() {
  if (!view_.trace()) return emit status_message(tr("open a timeline before you add marks"));
  TimeRange at;
  if (view_.range()) {
    at = *view_.range();
  } else if (view_.selected()) {
    const SpanRow& spans = view_.trace()->rows()[view_.selected()->row].spans;
    at = {spans.start(view_.selected()->index), spans.end(view_.selected()->index)};
  } else {
    at = {view_.cursor_or_middle(), view_.cursor_or_middle()};
  }
  changed(marks_.add({at, tr("mark %1").arg(marks_.all().size() + 1).toStdString()}));
  emit name_wanted();
  // Wait until the panel is shown, since a hidden widget cannot have the focus.
  QTimer::singleShot(0, table_, [this] {
    table_->setFocus();
    if (QTableWidgetItem* const item = table_->item(table_->currentRow(), kTextColumn))
      table_->editItem(item);
  });
}

void MarksPanel::go_to(std::size_t mark) {
  if (mark >= marks_.all().size()) return;
  const TimeRange& at = marks_.all()[mark].at;
  const TimeRange& seen = view_.view().range();
  if (at.to > at.from) view_.select_range(at);
  if (at.from >= seen.from && at.to <= seen.to) return;
  const Time length = std::max(seen.length(), at.length() + Time(at.length().count() / 4));
  const Time middle = at.from + Time(at.length().count() / 2);
  view_.show_range({middle - Time(length.count() / 2), middle + Time(length.count() / 2)});
}

void MarksPanel::walk(bool forward) {
  const TimeRange& seen = view_.view().range();
  const int row = table_->currentRow();
  const bool at_one = row >= 0 && static_cast<std::size_t>(row) < marks_.all().size();
  const Time from = at_one ? marks_.all()[row].at.from : seen.from;
  const auto mark = forward ? marks_.next(from) : marks_.previous(from);
  if (!mark) return emit status_message(tr("there are no marks; M adds one"));
  table_->setCurrentCell(static_cast<int>(*mark), kTextColumn);
  go_to(*mark);
  emit status_message(QString::fromStdString(marks_.all()[*mark].text));
}

void MarksPanel::rename(int row) {
  marks_.rename(static_cast<std::size_t>(row),
                table_->item(row, kTextColumn)->text().toStdString());
  changed(static_cast<std::size_t>(row));
  view_.setFocus();
}

void MarksPanel::remove_selected() {
  const int row = table_->currentRow();
  if (row < 0 || static_cast<std::size_t>(row) >= marks_.all().size())
    return emit status_message(tr("select a mark in the list first"));
  marks_.remove(static_cast<std::size_t>(row));
  changed(std::nullopt);
}

/// Saves the current marks, and updates the list. If the file of marks cannot be read, does not
/// save, because this would overwrite the marks in the file.
void MarksPanel::changed(std::optional<std::size_t> selected) {
  bool readable = true;
  if (!path_.isEmpty() && QFileInfo::exists(path_)) {
    if (const auto theirs = read_file()) {
      const std::optional<Mark> one =
          selected ? std::optional(marks_.all()[*selected]) : std::nullopt;
      marks_ = Marks::merged(saved_, marks_, *theirs);
      const auto& all = marks_.all();
      if (one)
        selected = static_cast<std::size_t>(std::find(all.begin(), all.end(), *one) - all.begin());
    } else {
      readable = false;
      emit status_message(
          tr("the marks are not saved: %1").arg(QString::fromStdString(theirs.error().message())));
    }
  }
  fill();
  if (selected) table_->setCurrentCell(static_cast<int>(*selected), kTextColumn);
  if (path_.isEmpty() || !readable) return;
  const QByteArray text = QByteArray::fromStdString(marks_.write());
  QSaveFile file(path_);
  const bool written =
      file.open(QIODevice::WriteOnly) && file.write(text) == text.size() && file.commit();
  if (written) saved_ = marks_;
  if (!written)
    emit status_message(
        tr("the marks are not saved: %1 cannot be written (%2)").arg(path_, file.errorString()));
}

void MarksPanel::fill() {
  filling_ = true;
  table_->setRowCount(static_cast<int>(marks_.all().size()));
  for (std::size_t i = 0; i < marks_.all().size(); ++i) {
    const Mark& mark = marks_.all()[i];
    const int row = static_cast<int>(i);
    set_row(*table_, row,
            {QString::fromStdString(mark.text), QString::fromStdString(core::show(mark.at.from)),
             mark.at.to > mark.at.from ? QString::fromStdString(core::show(mark.at.length()))
                                       : QString()});
    for (const int column : {kFromColumn, kLengthColumn}) {
      QTableWidgetItem* const item = table_->item(row, column);
      item->setFlags(item->flags() & ~Qt::ItemIsEditable);
    }
  }
  table_->resizeColumnToContents(kFromColumn);
  table_->resizeColumnToContents(kLengthColumn);
  filling_ = false;
  view_.update();
}

/// Returns the rectangle of a mark's flag on the axis, with the part of the mark's name that fits
/// into it; empty if the mark is not visible.
static std::pair<QRect, QString> flag_of(const Mark& mark, const Placement& place,
                                         const QFontMetrics& metrics) {
  if (mark.at.to < place.scene.range.from || mark.at.from > place.scene.range.to) return {};
  const QString text = metrics.elidedText(QString::fromStdString(mark.text), Qt::ElideRight, kFlag);
  const QPoint corner(std::max(place.x_of(mark.at.from), place.lines.left()),
                      place.lines.top() - Scene::kAxis);
  return {QRect(corner, QSize(metrics.horizontalAdvance(text) + 8, Scene::kAxis / 2 + 2)), text};
}

QRegion MarksPanel::on_axis(const Placement& place, const QFontMetrics& metrics) const {
  QRegion covered;
  for (const Mark& mark : marks_.all()) covered += flag_of(mark, place, metrics).first;
  return covered;
}

/// Paints each mark as a line through all rows, and as a flag with the mark's name on the axis.
void MarksPanel::paint(QPainter& painter, const Placement& place) const {
  const Theme& theme = place.scene.theme;
  const QColor colour = QColor::fromRgb(theme.mark);
  for (const Mark& mark : marks_.all()) {
    const auto [flag, text] = flag_of(mark, place, painter.fontMetrics());
    if (flag.isEmpty()) continue;
    const int from = place.x_of(mark.at.from), to = place.x_of(mark.at.to);
    QColor faint = colour;
    faint.setAlpha(28);
    if (to > from)
      painter.fillRect(QRect(from, place.lines.top(), to - from, place.lines.height()), faint);
    painter.setPen(QPen(colour, 1, Qt::DashLine));
    for (const int x : {from, to})
      painter.drawLine(x, place.lines.top() - Scene::kAxis / 2, x, place.lines.bottom());
    painter.fillRect(flag, colour);
    painter.setPen(QColor::fromRgb(text_on(theme.mark)));
    painter.drawText(flag, Qt::AlignCenter, text);
  }
}

}  // namespace tutti::gui
