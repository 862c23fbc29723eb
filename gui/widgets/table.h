#pragma once

#include <QStringList>
#include <QTableWidget>

namespace tutti::gui {

/// A table to be read, not written in; `name` is what screen readers call it.
QTableWidget* make_table(const QStringList& titles, const QString& name);
/// Texts of a row, each with itself as its tool tip, for columns that are too narrow.
void set_row(QTableWidget& table, int row, const QStringList& texts);

}  // namespace tutti::gui
