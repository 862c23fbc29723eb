#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/text/document.h"

namespace tutti::core {

/// A table of comma-separated values with a header line (RFC 4180: cells that hold commas, quotes
/// or line breaks are in quotes; "" for a quote). Lines before the header that begin with '#' are
/// remarks; those of the form `# key: value` are kept. After the header such a line is a row like
/// any other.
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
  std::vector<Row> uneven;  ///< rows with more or fewer cells than columns, if such rows are kept

  /// Returns the index of a column, or -1.
  [[nodiscard]] int column(std::string_view name) const;
  /// True if there are columns and none of them has one of these names: the text is no such table.
  [[nodiscard]] bool has_none_of(const std::vector<std::string>& names) const;
  /// Returns the indices of required columns; reports each one that is missing.
  [[nodiscard]] std::vector<std::size_t> required(const std::vector<const char*>& names,
                                                  const std::string& file,
                                                  Problems& problems) const;
};

/// The treatment of rows with more or fewer cells than the header: each is a problem, or they go to
/// a separate list.
enum class UnevenRows { kAreProblems, kAreKept };

/// Parses a table. Reports rows with more or fewer cells than the header (unless they are kept),
/// quotes that never close, a missing header, columns with the same name, more than kMaxCsvColumns
/// or kMaxCsvCells (text_limits.h), and bytes that are not UTF-8.
CsvTable parse_csv(std::string_view text, const std::string& file, Problems& problems,
                   UnevenRows uneven = UnevenRows::kAreProblems);

/// Returns the error of a file that is no table of `what`. It quotes nothing of the file: a
/// scenario of unknown origin may name one whose content is not to be printed.
[[nodiscard]] tl::unexpected<Error> no_such_table(const std::string& file, std::string_view what,
                                                  const std::vector<std::string>& columns);

/// Returns a text as a cell: in quotes if necessary.
std::string csv_cell(std::string_view text);

}  // namespace tutti::core
