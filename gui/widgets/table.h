#pragma once

#include <QStringList>
#include <QTableWidget>

namespace tutti::gui {

/// Creates a read-only table; `name` is its name for screen readers.
QTableWidget* make_table(const QStringList& titles, const QString& name);
/// Sets the texts of a row. Each text is also the tooltip of its cell, for columns that are too
/// narrow.
void set_row(QTableWidget& table, int row, const QStringList& texts);
/// Fits each column to its content, except the first column, with names, which gets the remaining
/// width and is elided in the middle. So the values are visible without horizontal scrolling, if
/// they fit into the width.
void fit_columns(QTableWidget& table);

}  // namespace tutti::gui
