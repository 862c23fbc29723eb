#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/text/document.h"

namespace tutti::core {

/// A table of comma-separated values with a header line (RFC 4180: quotes around cells that hold commas, quotes or line
/// breaks; "" for a quote). Lines that begin with '#' before the header are remarks; `# key: value` among them are
/// kept. Behind the header such a line is a row like any other.
struct CsvTable {
  struct Cell {
    std::string text;
    Position at;
  };
  struct Row {
    std::vector<Cell> cells;  ///< as many as there are columns
  };
  std::map<std::string, Cell> remarks;
  std::vector<Cell> columns;
  std::vector<Row> rows;
  std::vector<Row> uneven;  ///< with more or fewer cells, if those were to be kept

  /// The index of a column, or -1.
  [[nodiscard]] int column(std::string_view name) const;
  /// The indices of columns that have to be there; a problem for each that is not.
  [[nodiscard]] std::vector<std::size_t> required(const std::vector<const char*>& names, const std::string& file,
                                                  Problems& problems) const;
};

/// What becomes of rows with more or fewer cells than the header: a problem each, or a list of their own.
enum class UnevenRows { kAreProblems, kAreKept };

/// Reports rows with more or fewer cells than the header (unless they are kept), quotes that never close, a missing header, columns of the same
/// name, bytes that are not UTF-8.
CsvTable parse_csv(std::string_view text, const std::string& file, Problems& problems,
                   UnevenRows uneven = UnevenRows::kAreProblems);

/// A text as a cell: in quotes if it needs them.
std::string csv_cell(std::string_view text);

}  // namespace tutti::core
