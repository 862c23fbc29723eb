#include "tools/tutti/report/table.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"
#include "tools/tutti/io/terminal.h"

namespace tutti::tools {
namespace {

constexpr std::size_t kMinWidth = 12;  ///< minimum width of a column that is narrowed

/// Narrows the left-aligned columns so that a line has at most `room` characters, as far as that is
/// possible. The widest column is narrowed first.
void narrow(std::vector<std::size_t>& widths, const std::vector<bool>& left, std::size_t room) {
  std::size_t all = 2 * (widths.size() - 1);
  for (const std::size_t width : widths) all += width;
  for (; all > room; --all) {
    std::size_t widest = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (left[c] && widths[c] > kMinWidth &&
          (widest == widths.size() || widths[c] >= widths[widest]))
        widest = c;
    }
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

/// Returns the number of columns that fit into `room`, at least two.
std::size_t fitting(const std::vector<std::size_t>& widths, const std::vector<bool>& left,
                    std::size_t room) {
  std::size_t needed = 0, columns = 0;
  for (; columns < widths.size(); ++columns) {
    needed += (columns > 0 ? 2 : 0) +
              (left[columns] ? std::min(widths[columns], kMinWidth) : widths[columns]);
    if (needed > room && columns >= 2) break;
  }
  return columns;
}

/// Returns the lines of a cell in a column of this width.
std::vector<std::string> lines_of(const std::string& cell, std::size_t width) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= cell.size();) {
    std::size_t end = std::min(cell.find(' ', at), cell.size());
    const std::string word = shortened(cell.substr(at, end - at), width);
    if (!lines.empty() && text_width(lines.back()) + 1 + text_width(word) <= width)
      lines.back() += ' ' + word;
    else
      lines.push_back(word);
    at = end + 1;
  }
  return lines;
}

}  // namespace

Table::Table(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    left_.push_back(heading.starts_with('<'));
    if (left_.back()) heading.erase(0, 1);
  }
  rows_.push_back(std::move(headings));
}

void Table::row(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

std::string Table::text(int indent, Fit fit) const {
  std::vector<std::size_t> widths(left_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c)
      widths[c] = std::max(widths[c], text_width(row[c]));
  }
  const std::string margin(static_cast<std::size_t>(indent), ' ');
  const auto room = fit == Fit::kTerminal ? line_width() : std::nullopt;
  std::vector<std::string> omitted;  // headings of columns for which there is no room
  if (room && !widths.empty()) {
    const auto inside = static_cast<std::size_t>(std::max(*room - indent, 1));
    const std::size_t columns = fitting(widths, left_, inside);
    for (std::size_t c = columns; c < widths.size(); ++c) {
      if (!rows_.front()[c].empty()) omitted.push_back(rows_.front()[c]);
    }
    widths.resize(columns);
    narrow(widths, left_, inside);
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::vector<std::vector<std::string>> cells;
    std::size_t height = 1;
    for (std::size_t c = 0; c < std::min(row.size(), widths.size()); ++c) {
      cells.push_back(text_width(row[c]) <= widths[c] ? std::vector{row[c]}
                                                      : lines_of(row[c], widths[c]));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      std::string line = margin;
      for (std::size_t c = 0; c < cells.size(); ++c) {
        const std::string cell = l < cells[c].size() ? cells[c][l] : "";
        const std::string blanks(widths[c] - text_width(cell), ' ');
        if (c > 0) line += "  ";
        line += left_[c] ? cell + blanks : blanks + cell;
      }
      line.erase(line.find_last_not_of(' ') + 1);
      if (fit == Fit::kTerminal && &row == &rows_.front())
        line = styled(Style::kHeading, line, STDOUT_FILENO);
      text += line + '\n';
    }
  }
  if (!omitted.empty())
    text += fmt::format("{}… wider terminals and --verbose also show: {}\n", margin,
                        fmt::join(omitted, ", "));
  return text;
}

std::string shown_value(const std::string& field, const std::string& value) {
  const std::string name = field.substr(field.rfind('.') + 1);
  const char* const end = value.data() + value.size();
  std::int64_t bytes = 0;
  const auto [stop, status] = std::from_chars(value.data(), end, bytes);
  if (name.find("bytes") == std::string::npos || status != std::errc() || stop != end || bytes <= 0)
    return shown_value(value);
  constexpr std::array<std::pair<const char*, std::int64_t>, 6> kUnits{
      {{"GiB", std::int64_t{1} << 30},
       {"GB", 1'000'000'000},
       {"MiB", std::int64_t{1} << 20},
       {"MB", 1'000'000},
       {"KiB", std::int64_t{1} << 10},
       {"KB", 1'000}}};
  for (const auto& [unit, size] : kUnits) {
    if (bytes % size == 0) return fmt::format("{} {}", bytes / size, unit);
  }
  return value;
}

std::string table_text(const std::vector<core::Report>& rows, int indent, int most, Fit fit) {
  if (rows.empty()) return "";
  std::vector<std::vector<std::string>> cells;
  for (const core::Report& row : rows) {
    std::vector<std::string>& shown_row = cells.emplace_back();
    for (const core::ReportField& field : row.fields()) {
      if (!field.title.empty()) shown_row.push_back(shown(field));
    }
    TUTTI_CHECK(shown_row.size() == cells.front().size(), "{} titles, the first row has {}",
                shown_row.size(), cells.front().size());
  }
  std::vector<std::string> headings;
  for (const core::ReportField& field : rows.front().fields()) {
    if (field.title.empty()) continue;
    const std::size_t column = headings.size();
    if (field.title[0] == '?' &&
        std::all_of(cells.begin(), cells.end(), [=](auto& row) { return row[column].empty(); })) {
      for (auto& row : cells) row.erase(row.begin() + static_cast<std::ptrdiff_t>(column));
    } else {
      headings.push_back(
          field.title.substr(std::min(field.title.find_first_not_of("?>"), field.title.size())));
    }
  }
  Table table(std::move(headings));
  cells.resize(std::min(rows.size(), static_cast<std::size_t>(most)));
  for (std::vector<std::string>& row : cells) table.row(std::move(row));
  std::string text = table.text(indent, fit);
  if (cells.size() < rows.size())
    text += fmt::format("  … and {} more (--rows {} shows all)\n", rows.size() - cells.size(),
                        rows.size());
  return text;
}

std::string note_lines(const std::vector<std::string>& notes) {
  std::string text;
  for (const std::string& note : notes) text += "note: " + note + '\n';
  return text;
}

}  // namespace tutti::tools
