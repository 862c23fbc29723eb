#include "core/text/csv.h"

#include <algorithm>
#include <optional>
#include <set>

#include "core/text/text_limits.h"

namespace tutti::core {
namespace {

std::string_view trim(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& file, Problems& problems, UnevenRows uneven)
      : text_(text), file_(file), problems_(problems), uneven_(uneven) {}

  CsvTable read() {
    while (next_ < text_.size() && !problems_.full() && !too_large_) {
      if (at_remark()) {
        read_remark();
        continue;
      }
      std::int64_t count = 0;
      std::vector<CsvTable::Cell> cells = read_line(count);
      if (too_large_) break;
      if (cells.size() == 1 && cells[0].text.empty()) continue;
      if (table_.columns.empty()) {
        if (count > kMaxCsvColumns) {
          problems_.add({ProblemCode::kTooLarge}, {file_, cells[0].at.line, 1},
                        "the header has {} columns, which exceeds the limit of {}", count,
                        kMaxCsvColumns);
          break;
        }
        table_.columns = std::move(cells);
        check_header();
      } else if (cells.size() != table_.columns.size() && uneven_ == UnevenRows::kAreKept) {
        table_.uneven.push_back({std::move(cells)});
      } else if (cells.size() != table_.columns.size()) {
        problems_.add({ProblemCode::kSyntax}, {file_, cells[0].at.line, 1},
                      "this row has {} cells, but the header has {}{}", count,
                      table_.columns.size(),
                      cells[0].text.starts_with('#') ? "; comments must be above the header" : "");
      } else {
        table_.rows.push_back({std::move(cells)});
      }
    }
    if (table_.columns.empty() && problems_.empty())
      problems_.add({ProblemCode::kMissing}, {file_, 1, 1},
                    "there is no header line; the first line names the columns");
    return std::move(table_);
  }

 private:
  /// True if a remark begins here. After the header, a line that begins with '#' is a row, because
  /// a name in the first cell may begin with '#'.
  [[nodiscard]] bool at_remark() const { return table_.columns.empty() && text_[next_] == '#'; }

  void check_header() {
    std::set<std::string_view> names;
    for (const CsvTable::Cell& column : table_.columns) {
      if (names.insert(column.text).second) continue;
      problems_.add({ProblemCode::kDuplicate, column.text},
                    {file_, column.at.line, column.at.column},
                    "column \"{}\" is named twice; keep one", column.text);
    }
  }

  void read_remark() {
    const std::size_t end = std::min(text_.find('\n', next_), text_.size());
    std::string_view line = trim(text_.substr(next_ + 1, end - next_ - 1));
    const std::size_t colon = line.find(": ");
    if (colon != std::string_view::npos) {
      table_.remarks.emplace(std::string(trim(line.substr(0, colon))),
                             CsvTable::Cell{std::string(trim(line.substr(colon + 1))), {line_, 1}});
    }
    next_ = std::min(end + 1, text_.size());
    ++line_;
  }

  /// Reads the cells up to the end of the line; quoted cells may span several lines. `count` is set
  /// to the number of cells. Cells beyond kMaxCsvColumns are counted but not returned.
  std::vector<CsvTable::Cell> read_line(std::int64_t& count) {
    std::vector<CsvTable::Cell> cells;
    if (!table_.columns.empty()) cells.reserve(table_.columns.size());
    std::size_t line_start = next_;
    while (true) {
      CsvTable::Cell cell{"", {line_, static_cast<int>(next_ - line_start) + 1}};
      if (next_ < text_.size() && text_[next_] == '"') {
        read_quoted(cell, line_start);
      }
      const std::size_t end = std::min(text_.find_first_of(",\n", next_), text_.size());
      if (++count <= kMaxCsvColumns) {
        cell.text += trim(text_.substr(next_, end - next_));
        if (++cells_ > kMaxCsvCells) {
          too_large_ = true;
          problems_.add({ProblemCode::kTooLarge}, {file_, cell.at.line, cell.at.column},
                        "the table has more than {} cells, which is the limit; use a smaller table",
                        kMaxCsvCells);
          return cells;
        }
        cells.push_back(std::move(cell));
      }
      next_ = end;
      if (next_ >= text_.size()) return cells;
      if (text_[next_++] == '\n') {
        ++line_;
        return cells;
      }
    }
  }

  void read_quoted(CsvTable::Cell& cell, std::size_t& line_start) {
    ++next_;
    while (next_ < text_.size()) {
      const char c = text_[next_++];
      if (c == '"') {
        if (next_ >= text_.size() || text_[next_] != '"') return;
        ++next_;
      }
      if (c == '\n') {
        ++line_;
        line_start = next_;
      }
      cell.text += c;
    }
    problems_.add({ProblemCode::kSyntax}, {file_, cell.at.line, cell.at.column},
                  "this quote is never closed");
  }

  std::string_view text_;
  const std::string& file_;
  Problems& problems_;
  UnevenRows uneven_;
  CsvTable table_;
  std::size_t next_ = 0;
  int line_ = 1;
  std::int64_t cells_ = 0;  ///< number of cells in all rows
  bool too_large_ = false;
};

}  // namespace

int CsvTable::column(std::string_view name) const {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].text == name) return static_cast<int>(i);
  }
  return -1;
}

bool CsvTable::has_none_of(const std::vector<std::string>& names) const {
  return !columns.empty() && std::none_of(names.begin(), names.end(),
                                          [this](const auto& name) { return column(name) >= 0; });
}

std::vector<std::size_t> CsvTable::required(const std::vector<const char*>& names,
                                            const std::string& file, Problems& problems) const {
  std::vector<std::size_t> indices;
  for (const char* const name : names) {
    const int index = column(name);
    if (index < 0)
      problems.add({ProblemCode::kMissing, name}, {file, 1, 1}, "the column {} is missing", name);
    indices.push_back(static_cast<std::size_t>(std::max(0, index)));
  }
  return indices;
}

CsvTable parse_csv(std::string_view text, const std::string& file, Problems& problems,
                   UnevenRows uneven) {
  const std::optional<std::string_view> content = utf8_content(text, file, problems);
  return content ? CsvReader(*content, file, problems, uneven).read() : CsvTable();
}

tl::unexpected<Error> no_such_table(const std::string& file, std::string_view what,
                                    const std::vector<std::string>& columns) {
  std::string names;
  for (const std::string& column : columns) names += (names.empty() ? "" : ", ") + column;
  return tl::make_unexpected(Error::request(
      {ProblemCode::kWrongType},
      fmt::format("this file is not a table of {}: its first line has none of the column names {}",
                  what, names),
      {file, 0, 0}));
}

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += c;
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace tutti::core
