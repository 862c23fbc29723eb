#pragma once

#include <limits>
#include <string>
#include <vector>

#include "core/text/report.h"

namespace tutti::tools {

/// Formats the value of a field for a table.
inline std::string shown_value(const std::string& value) {
  return value.empty() ? "not set" : value;
}

/// Formats the value of a field of a scenario: sizes in bytes have the unit in which they are whole
/// numbers, "25 MiB" or "4 MB".
std::string shown_value(const std::string& field, const std::string& value);

/// The width of a table.
enum class Fit {
  kTerminal,  ///< the width of the terminal (line_width()), with styled headings
  kWhole      ///< all cells are complete; for files
};

/// A text table with aligned columns. A column is right-aligned unless its heading begins with '<'.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  void row(std::vector<std::string> cells);
  /// Returns the text. Each line begins with `indent` blanks. If the table is wider than the
  /// terminal, long texts of left-aligned columns continue on further lines, and long words in them
  /// are shortened in their middle. If that is not enough, the last columns are omitted, and a line
  /// names them.
  [[nodiscard]] std::string text(int indent, Fit fit = Fit::kTerminal) const;

 private:
  std::vector<bool> left_;
  std::vector<std::vector<std::string>> rows_;
};

/// Formats the titled fields of each row as a table with at most `most` rows. If there are more
/// rows, a last line states their number and the option `--rows`. A title may begin with '?', which
/// omits the column if it is empty in all rows. After that, a title may have '<', which aligns the
/// column left, or '>', which aligns it right (the default). The title ">" stands for a column
/// without a heading. REQUIRES: all rows have the same titles.
std::string table_text(const std::vector<core::Report>& rows, int indent,
                       int most = std::numeric_limits<int>::max(), Fit fit = Fit::kTerminal);

/// Formats each note as a line "note: …".
std::string note_lines(const std::vector<std::string>& notes);

}  // namespace tutti::tools
