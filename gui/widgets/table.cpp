#include "gui/widgets/table.h"

#include <QAction>
#include <QClipboard>
#include <QCoreApplication>
#include <QGuiApplication>
#include <QHeaderView>
#include <algorithm>
#include <set>

namespace tutti::gui {

NumberItem::NumberItem(const QString& text, double number)
    : QTableWidgetItem(text), number_(number) {
  setToolTip(text);
  setTextAlignment(Qt::AlignRight | Qt::AlignVCenter);
}

bool NumberItem::operator<(const QTableWidgetItem& other) const {
  const auto* const its = dynamic_cast<const NumberItem*>(&other);
  return its ? number_ < its->number_ : QTableWidgetItem::operator<(other);
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
  auto* const table = new QTableWidget(0, static_cast<int>(titles.size()));
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
