#include "gui/widgets/table.h"

#include <QHeaderView>
#include <algorithm>

namespace tutti::gui {

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
  return table;
}

void fit_columns(QTableWidget& table) {
  constexpr int kMin = 84;
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
