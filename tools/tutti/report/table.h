#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/text/report.h"

namespace tutti::tools {

/// The width of a table.
enum class Fit {
  kTerminal,  ///< fits the table into the terminal's width (line_width()), and styles its headings
  kWhole      ///< shows all cells completely; for tables in files
};

/// A text table with aligned columns. A column is right-aligned unless its heading begins with '<'.
/// A heading that begins with '!' or "<!" marks a column that identifies the row and is never
/// omitted.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  void row(std::vector<std::string> cells);
  /// Returns the text. Each line begins with `indent` blanks. If the table is wider than the
  /// terminal, long texts of left-aligned columns continue on further lines. Long words in these
  /// texts are shortened in their middle, with two exceptions: paths in the last column stay whole,
  /// and words of columns that are never omitted continue on further lines. If the table is still
  /// too wide, the last columns are omitted (except those that are never omitted), and a line names
  /// the omitted columns.
  [[nodiscard]] std::string text(int indent, Fit fit = Fit::kTerminal) const;

 private:
  std::vector<bool> left_;
  std::vector<bool> kept_;  ///< for each column, true if the column is never omitted
  std::vector<std::vector<std::string>> rows_;
};

/// Formats the titled fields of each row as a table with at most `most` rows. If there are more
/// rows, a last line states their number and the option `--rows`. A title may begin with '?', which
/// omits the column if it is empty in all rows. After the '?', a title may have '<', which aligns
/// the column left, or '>', which aligns it right (the default). The title ">" denotes a column
/// without a heading. REQUIRES: all rows have the same titles.
std::string table_text(const std::vector<core::Report>& rows, int indent,
                       int most = std::numeric_limits<int>::max(), Fit fit = Fit::kTerminal);

/// Formats each note as a line "note: …".
std::string note_lines(const std::vector<std::string>& notes);

}  // namespace tutti::tools
