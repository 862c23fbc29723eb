#include "gui/widgets/table.h"

#include <QAction>
#include <QClipboard>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPainter>
#include <algorithm>
#include <array>
#include <set>

namespace tutti::gui {

namespace {

constexpr const char* kEmptyText = "empty text";  // a property of the table

/// A table whose navigation keys have priority over the window's actions with the same keys. The
/// table paints a frame while it has the focus, since Qt does not show the focus of a table without
/// a current cell.
class KeyboardTable : public QTableWidget {
 public:
  KeyboardTable(int rows, int columns) : QTableWidget(rows, columns) {
    setFrameStyle(QFrame::Box | QFrame::Plain);
    setLineWidth(kFrame);
  }

 protected:
  void paintEvent(QPaintEvent* event) override {
    QTableWidget::paintEvent(event);
    if (rowCount() > 0) return;
    QPainter painter(viewport());
    painter.setPen(palette().color(QPalette::PlaceholderText));
    constexpr int kMargin = 8;
    painter.drawText(viewport()->rect().adjusted(kMargin, kMargin, -kMargin, -kMargin),
                     Qt::AlignCenter | Qt::TextWordWrap, property(kEmptyText).toString());
  }
  void focusInEvent(QFocusEvent* event) override {
    QTableWidget::focusInEvent(event);
    update();
  }
  void focusOutEvent(QFocusEvent* event) override {
    QTableWidget::focusOutEvent(event);
    update();
  }

  bool event(QEvent* event) override {
    if (event->type() == QEvent::ShortcutOverride) {
      const auto* const key = static_cast<QKeyEvent*>(event);
      constexpr std::array kMoving{Qt::Key_Up,       Qt::Key_Down,   Qt::Key_PageUp,
                                   Qt::Key_PageDown, Qt::Key_Return, Qt::Key_Enter};
      const bool moves = std::find(kMoving.begin(), kMoving.end(), key->key()) != kMoving.end();
      if (moves && (key->modifiers() & ~(Qt::ShiftModifier | Qt::KeypadModifier)) == 0)
        event->accept();
    }
    const bool done = QTableWidget::event(event);
    if (event->type() == QEvent::Paint) {
      QPainter painter(this);
      const QColor colour = palette().color(hasFocus() ? QPalette::Highlight : QPalette::Window);
      painter.setPen(QPen(colour, kFrame));
      painter.drawRect(QRectF(rect()).adjusted(1, 1, -1, -1));
    }
    return done;
  }

 private:
  static constexpr int kFrame = 2;
};

}  // namespace

NumberItem::NumberItem(const QString& text, double number)
    : QTableWidgetItem(text), number_(number) {
  setToolTip(text);
  setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
}

bool NumberItem::operator<(const QTableWidgetItem& other) const {
  const auto* const its = dynamic_cast<const NumberItem*>(&other);
  return its ? number_ < its->number_ : QTableWidgetItem::operator<(other);
}

void set_empty_text(QTableWidget& table, const QString& text) {
  table.setProperty(kEmptyText, text);
  table.viewport()->update();
}

QString rows_as_text(const QTableWidget& table) {
  std::set<int> rows;
  for (const QTableWidgetItem* const item : table.selectedItems()) rows.insert(item->row());
  for (int row = 0; rows.empty() && row < table.rowCount(); ++row) rows.insert(rows.end(), row);
  const auto line = [&](const auto& item_of) {
    QStringList texts;
    for (int column = 0; column < table.columnCount(); ++column) {
      if (table.isColumnHidden(column)) continue;
      const QTableWidgetItem* const item = item_of(column);
      texts.append(item ? item->text() : QString());
    }
    return texts.join(QLatin1Char('\t')) + QLatin1Char('\n');
  };
  QString text = line([&](int column) { return table.horizontalHeaderItem(column); });
  for (const int row : rows) text += line([&](int column) { return table.item(row, column); });
  return text;
}

QTableWidget* make_table(const QStringList& titles, const QString& name) {
  auto* const table = new KeyboardTable(0, static_cast<int>(titles.size()));
  table->setHorizontalHeaderLabels(titles);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(22);
  table->horizontalHeader()->setStretchLastSection(true);
  table->setWordWrap(false);
  table->setAccessibleName(name);
  table->setTabKeyNavigation(false);  // keyboard users must be able to leave the table
  auto* const copy = new QAction(QCoreApplication::translate("Table", "&Copy the rows"), table);
  copy->setShortcut(QKeySequence::Copy);
  copy->setShortcutContext(Qt::WidgetShortcut);
  QObject::connect(copy, &QAction::triggered, table,
                   [table] { QGuiApplication::clipboard()->setText(rows_as_text(*table)); });
  table->addAction(copy);
  table->setContextMenuPolicy(Qt::ActionsContextMenu);
  return table;
}

void fit_columns(QTableWidget& table) {
  constexpr int kMin = 76;
  const QAbstractItemView& view = table;
  const auto needed = [&](int column) {
    return std::max(view.sizeHintForColumn(column),
                    table.horizontalHeader()->sectionSizeHint(column)) +
           1;
  };
  int others = 0;
  for (int column = 1; column < table.columnCount(); ++column) {
    table.setColumnWidth(column, needed(column));
    others += needed(column);
  }
  table.setColumnWidth(0, std::max(std::min(kMin, needed(0)),
                                   std::min(needed(0), table.viewport()->width() - others)));
}

void set_row(QTableWidget& table, int row, const QStringList& texts) {
  for (int column = 0; column < texts.size(); ++column) {
    auto* const item = new QTableWidgetItem(texts[column]);
    item->setToolTip(texts[column]);
    table.setItem(row, column, item);
  }
}

}  // namespace tutti::gui
