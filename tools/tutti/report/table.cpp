#include "tools/tutti/report/table.h"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"
#include "tools/tutti/io/terminal.h"

namespace tutti::tools {
namespace {

constexpr std::size_t kMinWidth = 12;  ///< the width below which a column is not narrowed
/// The minimum width of the columns that are never omitted, if a table has many of these columns.
constexpr std::size_t kMinKeptWidth = 6;

/// Narrows the left-aligned columns, down to their minimum widths, until a line has at most `room`
/// characters, if possible. The widest column is narrowed first.
void narrow(std::vector<std::size_t>& widths, const std::vector<bool>& left, std::size_t room,
            const std::vector<std::size_t>& least) {
  std::size_t all = 2 * (widths.size() - 1);
  for (const std::size_t width : widths) all += width;
  for (; all > room; --all) {
    std::size_t widest = widths.size();
    for (std::size_t c = 0; c < widths.size(); ++c) {
      if (left[c] && widths[c] > least[c] &&
          (widest == widths.size() || widths[c] >= widths[widest]))
        widest = c;
    }
    if (widest == widths.size()) return;
    --widths[widest];
  }
}

/// Returns the minimum width of a column that is never omitted: the longest part of a name
/// ("bytes_per_pack" in "strategy.bytes_per_pack"), but at most 20 characters.
std::size_t kept_width(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  constexpr std::size_t kMax = 20;
  std::size_t longest = 0;
  for (const std::vector<std::string>& row : rows) {
    if (column >= row.size()) continue;
    for (std::size_t at = 0; at <= row[column].size();) {
      const std::size_t end = std::min(row[column].find_first_of(". ", at), row[column].size());
      longest = std::max(longest, text_width(row[column].substr(at, end + 1 - at)));
      at = end + 1;
    }
  }
  return std::clamp(longest, kMinWidth, kMax);
}

/// Returns the columns that fit into `room`: the columns that are never omitted, and as many other
/// columns as possible, from the left. Shows at least one of the other columns, and at least two
/// columns in total.
/// `least`: the minimum widths of left-aligned columns.
std::vector<std::size_t> fitting(const std::vector<std::size_t>& widths,
                                 const std::vector<bool>& left, const std::vector<bool>& kept,
                                 const std::vector<std::size_t>& least, std::size_t room) {
  std::size_t needed = 0, columns = 0;
  const auto add = [&](std::size_t c) {
    needed += (columns++ > 0 ? 2 : 0) + (left[c] ? std::min(widths[c], least[c]) : widths[c]);
  };
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (kept[c]) add(c);
  }
  std::vector<bool> shown = kept;
  bool first = true;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (kept[c]) continue;
    add(c);
    if (needed > room && columns > 2 && !first) break;
    shown[c] = true;
    first = false;
  }
  std::vector<std::size_t> chosen;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    if (shown[c]) chosen.push_back(c);
  }
  return chosen;
}

/// The way in which a word is shown that is longer than the width of its column.
enum class LongWords {
  kElided,  ///< the middle is replaced by "…"
  kBroken,  ///< the word continues on the next line, if possible after '.', '/' or '_'
  kPaths    ///< like kElided, except that a path may extend beyond the column, so that it can be
            ///< copied
};

/// True if the word is the path of a file. Names of links ("w0/cpu0→w0/plx0") are not paths.
bool is_path(const std::string& word) {
  return word.find('/') != std::string::npos && word.size() == text_width(word);
}

/// Splits a word into pieces of at most `width` characters. Only ASCII words are split.
std::vector<std::string> pieces_of(std::string word, std::size_t width) {
  std::vector<std::string> pieces;
  while (word.size() > width && word.size() == text_width(word)) {
    std::size_t mark = word.find_last_of("./", width - 1);
    if (mark == std::string::npos) mark = word.find_last_of('_', width - 1);
    const std::size_t size = mark == std::string::npos ? width : mark + 1;
    pieces.push_back(word.substr(0, size));
    word.erase(0, size);
  }
  pieces.push_back(elided_middle(word, width));
  return pieces;
}

/// Returns the lines of a cell in a column of this width.
std::vector<std::string> lines_of(const std::string& cell, std::size_t width, LongWords treatment) {
  std::vector<std::string> lines;
  for (std::size_t at = 0; at <= cell.size();) {
    const std::size_t end = std::min(cell.find(' ', at), cell.size());
    const std::string word = cell.substr(at, end - at);
    std::vector<std::string> pieces{word};
    if (treatment == LongWords::kBroken) pieces = pieces_of(word, width);
    const bool whole = treatment == LongWords::kPaths && is_path(word);
    if (treatment != LongWords::kBroken && !whole) pieces = {elided_middle(word, width)};
    for (std::size_t p = 0; p < pieces.size(); ++p) {
      if (p == 0 && !lines.empty() && text_width(lines.back()) + 1 + text_width(pieces[p]) <= width)
        lines.back() += ' ' + pieces[p];
      else
        lines.push_back(pieces[p]);
    }
    at = end + 1;
  }
  return lines;
}

}  // namespace

Table::Table(std::vector<std::string> headings) {
  for (std::string& heading : headings) {
    left_.push_back(heading.starts_with('<'));
    if (left_.back()) heading.erase(0, 1);
    kept_.push_back(heading.starts_with('!'));
    if (kept_.back()) heading.erase(0, 1);
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
  std::vector<std::size_t> columns;  // indices of the columns for which there is room
  for (std::size_t c = 0; c < widths.size(); ++c) columns.push_back(c);
  if (room && !widths.empty()) {
    const std::size_t inside = std::max(*room - indent, 1);
    std::vector<std::size_t> least;
    for (std::size_t c = 0; c < widths.size(); ++c)
      least.push_back(kept_[c] ? kept_width(rows_, c) : kMinWidth);
    columns = fitting(widths, left_, kept_, least, inside);
    std::vector<std::size_t> narrowed, least_shown, least_kept;
    std::vector<bool> left;
    for (const std::size_t c : columns) {
      narrowed.push_back(widths[c]);
      left.push_back(left_[c]);
      least_shown.push_back(least[c]);
      least_kept.push_back(kept_[c] ? kMinKeptWidth : kMinWidth);
    }
    narrow(narrowed, left, inside, least_shown);
    narrow(narrowed, left, inside, least_kept);
    for (std::size_t i = 0; i < columns.size(); ++i) widths[columns[i]] = narrowed[i];
  }
  std::vector<std::string> omitted;
  for (std::size_t c = 0; c < widths.size(); ++c) {
    const bool shown = std::find(columns.begin(), columns.end(), c) != columns.end();
    if (!shown && !rows_.front()[c].empty()) omitted.push_back(rows_.front()[c]);
  }
  std::string text;
  for (const std::vector<std::string>& row : rows_) {
    std::vector<std::vector<std::string>> cells;  // lines by shown column
    std::size_t height = 1;
    for (const std::size_t c : columns) {
      if (c >= row.size()) break;
      const LongWords treatment = kept_[c]                            ? LongWords::kBroken
                                  : c + 1 == left_.size() && left_[c] ? LongWords::kPaths
                                                                      : LongWords::kElided;
      cells.push_back(text_width(row[c]) <= widths[c] ? std::vector{row[c]}
                                                      : lines_of(row[c], widths[c], treatment));
      height = std::max(height, cells.back().size());
    }
    for (std::size_t l = 0; l < height; ++l) {
      std::string line = margin;
      for (std::size_t i = 0; i < cells.size(); ++i) {
        const std::size_t c = columns[i];
        const std::string cell = l < cells[i].size() ? cells[i][l] : "";
        const std::string blanks(std::max(widths[c], text_width(cell)) - text_width(cell), ' ');
        if (i > 0) line += "  ";
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
      for (auto& row : cells) row.erase(row.begin() + column);
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
