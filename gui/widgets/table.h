#pragma once

#include <QStringList>
#include <QTableWidget>

namespace tutti::gui {

/// Creates a read-only table; `name` is its name for screen readers.
QTableWidget* make_table(const QStringList& titles, const QString& name);
/// Sets the texts of a row. The text of a cell is also the tooltip of the cell, in case the column
/// is too narrow.
void set_row(QTableWidget& table, int row, const QStringList& texts);
/// Fits the width of each column to its content. The first column, which has names, gets the
/// remaining width, and its texts are elided in the middle. The values are therefore visible
/// without horizontal scrolling if they fit into the width of the table.
void fit_columns(QTableWidget& table);

}  // namespace tutti::gui
