#pragma once

#include <QStringList>
#include <QTableWidget>

namespace tutti::gui {

/// A table to be read, not written in; `name` is what screen readers call it.
QTableWidget* make_table(const QStringList& titles, const QString& name);
/// Texts of a row, each with itself as its tool tip, for columns that are too narrow.
void set_row(QTableWidget& table, int row, const QStringList& texts);
/// Gives each column the room that it takes, and the first, of names, what they leave of it (elided in the middle): what counts is
/// seen without scrolling sideways, as long as there is room for it at all.
void fit_columns(QTableWidget& table);

}  // namespace tutti::gui
