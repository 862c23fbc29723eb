#include "tools/tutti/report/table.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/check.h"

namespace tutti::tools {
namespace {

/// Returns the number of characters, not bytes: "µs" has a width of two.
std::size_t width(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
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

std::string Table::text(int indent) const {
  std::vector<std::size_t> widths(left_.size(), 0);
  for (const std::vector<std::string>& row : rows_) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], width(row[c]));
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::string line(static_cast<std::size_t>(indent), ' ');
    for (std::size_t c = 0; c < row.size(); ++c) {
      const std::string blanks(widths[c] - width(row[c]), ' ');
      if (c > 0) line += "  ";
      line += left_[c] ? row[c] + blanks : blanks + row[c];
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + '\n';
  }
  return text;
}

std::string table_text(const std::vector<core::Report>& rows, int indent, int most) {
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
  std::string text = table.text(indent);
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
