#include "gui/widgets/table.h"

#include <QHeaderView>

namespace tutti::gui {

QTableWidget* make_table(const QStringList& titles, const QString& name) {
  auto* const table = new QTableWidget(0, static_cast<int>(titles.size()));
  table->setHorizontalHeaderLabels(titles);
  table->setEditTriggers(QAbstractItemView::NoEditTriggers);
  table->setSelectionBehavior(QAbstractItemView::SelectRows);
  table->verticalHeader()->hide();
  table->verticalHeader()->setDefaultSectionSize(22);
  table->horizontalHeader()->setStretchLastSection(true);
  table->setAccessibleName(name);
  return table;
}

void set_row(QTableWidget& table, int row, const QStringList& texts) {
  for (int column = 0; column < texts.size(); ++column) {
    auto* const item = new QTableWidgetItem(texts[column]);
    item->setToolTip(texts[column]);
    table.setItem(row, column, item);
  }
}

}  // namespace tutti::gui
