#pragma once

#include <QStringList>
#include <QTableWidget>

namespace tutti::gui {

/// A table cell with a number. If the table is sorted by the cell's column, the number determines
/// the order, not the cell's text.
class NumberItem : public QTableWidgetItem {
 public:
  NumberItem(const QString& text, double number);
  bool operator<(const QTableWidgetItem& other) const override;

 private:
  double number_;
};

/// Creates a read-only table; `name` is its name for screen readers. Ctrl+C and the context menu
/// copy the selected rows. Tab leaves the table.
QTableWidget* make_table(const QStringList& titles, const QString& name);
/// Sets a text that is shown while the table has no rows.
void set_empty_text(QTableWidget& table, const QString& text);
/// Returns the selected rows, or all rows if none is selected, below a line with the titles. Texts
/// in a line are separated by tabs. Hidden columns are omitted.
QString rows_as_text(const QTableWidget& table);
/// Sets the texts of a row. The text of a cell is also its tooltip, because the column may be too
/// narrow.
void set_row(QTableWidget& table, int row, const QStringList& texts);
/// Fits the width of each column to its content. The first column, which has names, gets the
/// remaining width, and its texts are elided in the middle. If the values fit into the width of the
/// table, they are therefore visible without horizontal scrolling.
void fit_columns(QTableWidget& table);

}  // namespace tutti::gui
