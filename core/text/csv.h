#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/text/document.h"

namespace tutti::core {

/// A table of comma-separated values with a header line (RFC 4180: a cell with commas, quotes or
/// line breaks is in quotes, and a quote inside such a cell is written as ""). Lines before the
/// header that begin with '#' are remarks. Remarks of the form `# key: value` are kept. After the
/// header, a line that begins with '#' is an ordinary row.
struct CsvTable {
  struct Cell {
    std::string text;
    Position at;
  };
  struct Row {
    std::vector<Cell> cells;  ///< one cell per column
  };
  std::map<std::string, Cell> remarks;
  std::vector<Cell> columns;
  std::vector<Row> rows;
  std::vector<Row>
      uneven;  ///< rows with more or fewer cells than columns; only with UnevenRows::kAreKept

  /// Returns the index of the column with this name; -1 if there is no such column.
  [[nodiscard]] int column(std::string_view name) const;
  /// True if the table has columns, but none with one of the given names. The text is then another
  /// kind of table.
  [[nodiscard]] bool has_none_of(const std::vector<std::string>& names) const;
  /// Returns the indices of required columns. Reports each column that is missing.
  [[nodiscard]] std::vector<std::size_t> required(const std::vector<const char*>& names,
                                                  const std::string& file,
                                                  Problems& problems) const;
};

/// The treatment of rows with more or fewer cells than the header. Uneven rows are either reported
/// as problems (kAreProblems) or stored in CsvTable::uneven (kAreKept).
enum class UnevenRows { kAreProblems, kAreKept };

/// Parses a table. Reports rows with more or fewer cells than the header (unless they are kept),
/// quotes that are not closed, a missing header, columns with the same name, more than
/// kMaxCsvColumns columns or kMaxCsvCells cells (text_limits.h), and bytes that are not UTF-8.
CsvTable parse_csv(std::string_view text, const std::string& file, Problems& problems,
                   UnevenRows uneven = UnevenRows::kAreProblems);

/// Returns the error for a file that is not a table of `what`. The error does not quote the file,
/// because a scenario of unknown origin may name a file whose content must not be printed.
[[nodiscard]] tl::unexpected<Error> no_such_table(const std::string& file, std::string_view what,
                                                  const std::vector<std::string>& columns);

/// Returns a text as it is written in a cell: in quotes if necessary.
std::string csv_cell(std::string_view text);

}  // namespace tutti::core
