#include "tools/tutti/perf/perf_columns.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "core/base/check.h"

namespace tutti::tools {
namespace {

constexpr int kIndent = 1;  // width of the '#' or blank before the first column; further columns
                            // follow after a blank

template <class Part>
std::vector<std::string> each(const std::vector<PerfColumn>& columns, Part part) {
  std::vector<std::string> parts;
  for (const PerfColumn& column : columns) parts.push_back(column.*part);
  return parts;
}

}  // namespace

PerfColumns::PerfColumns(std::vector<PerfColumn> columns, std::optional<int> room)
    : columns_(std::move(columns)), shown_(columns_.size(), true) {
  int width = kIndent;
  for (const PerfColumn& column : columns_) width += 1 + column.width;
  while (room && width > *room) {
    std::size_t next = columns_.size();
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      if (!shown_[c] || columns_[c].omitted == 0) continue;
      if (next == columns_.size() || columns_[c].omitted > columns_[next].omitted) next = c;
    }
    if (next == columns_.size()) return;
    shown_[next] = false;
    width -= 1 + columns_[next].width;
  }
}

std::string PerfColumns::titles() const {
  std::string text = "#\n" + groups() + line("#", each(columns_, &PerfColumn::name)) +
                     line("#", each(columns_, &PerfColumn::unit));
  std::vector<std::string> omitted;
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (!shown_[c] && std::find(omitted.begin(), omitted.end(), columns_[c].name) == omitted.end())
      omitted.push_back(columns_[c].name);
  }
  if (!omitted.empty())
    text += fmt::format("# omitted to fit the terminal (--verbose shows all): {}\n",
                        fmt::join(omitted, ", "));
  return text;
}

std::string PerfColumns::row(const std::vector<std::string>& cells) const {
  return line(" ", cells);
}

std::string PerfColumns::line(std::string start, const std::vector<std::string>& cells) const {
  TUTTI_CHECK(cells.size() == columns_.size(), "{} cells for {} columns", cells.size(),
              columns_.size());
  for (std::size_t c = 0; c < columns_.size(); ++c) {
    if (shown_[c]) start += fmt::format(" {:>{}}", cells[c], columns_[c].width);
  }
  start.erase(start.find_last_not_of(' ') + 1);
  return start + "\n";
}

/// Returns the heading line with the names of groups, such as "out-of-place", each right-aligned
/// above its columns.
std::string PerfColumns::groups() const {
  std::string text = "#";
  for (std::size_t c = 0; c < columns_.size();) {
    const std::string& group = columns_[c].group;
    int width = 0;
    for (; c < columns_.size() && columns_[c].group == group; ++c) {
      if (shown_[c]) width += 1 + columns_[c].width;
    }
    text += fmt::format("{:>{}}", group, width);
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text.size() > 1 ? text + "\n" : "";
}

std::vector<PerfColumn> perf_columns_of_request() {
  return {{"size", "(B)", 12},
          {"count", "(elements)", 13, 5},
          {"type", "", 9, 3},
          {"redop", "", 7, 4},
          {"root", "", 6, 7}};
}

void add_perf_half(std::vector<PerfColumn>& columns, const std::string& group) {
  columns.push_back({"time", "(us)", 10, 0, group});
  columns.push_back({"algbw", "(GB/s)", 8, 1, group});
  columns.push_back({"busbw", "(GB/s)", 8, 0, group});
  columns.push_back({"#wrong", "", 6, 6, group});
}

}  // namespace tutti::tools
