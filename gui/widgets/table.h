#pragma once

#include <QStringList>
#include <QTableWidget>

namespace tutti::gui {

/// Creates a read-only table; `name` is its name for screen readers.
QTableWidget* make_table(const QStringList& titles, const QString& name);
/// Sets the texts of a row, each also as its cell's tool tip, for columns that are too narrow.
void set_row(QTableWidget& table, int row, const QStringList& texts);
/// Fits each column to its content; the first column, with names, gets the remaining width (elided
/// in the middle). Thus the values are visible without horizontal scrolling if there is enough room
/// for them.
void fit_columns(QTableWidget& table);

}  // namespace tutti::gui
