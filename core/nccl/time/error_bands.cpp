#include "core/nccl/time/error_bands.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/text/csv.h"
#include "core/text/number.h"

namespace tutti::core::nccl {
namespace {

constexpr std::array<const char*, 2> kNodes = {"one", "several"};

template <std::size_t n>
std::size_t index_of(const std::array<const char*, n>& names, const std::string& name) {
  return static_cast<std::size_t>(std::find(names.begin(), names.end(), name) - names.begin());
}

}  // namespace

std::size_t ErrorBands::size_of(std::int64_t bytes) {
  if (bytes < 64 << 10) return 0;
  if (bytes < 1 << 20) return 1;
  return bytes < 64 << 20 ? 2 : 3;
}

Expected<ErrorBands> ErrorBands::parse(std::string_view text, const std::string& file) {
  Problems problems;
  const CsvTable table = parse_csv(text, file, problems);
  constexpr std::array<const char*, 4> kColumns = {"nodes", "size", "low", "high"};
  std::array<int, 4> at{};
  for (std::size_t c = 0; c < at.size(); ++c) {
    at[c] = table.column(kColumns[c]);
    if (at[c] < 0) problems.add({file, 1, 1}, "the column {} is missing", kColumns[c]);
  }
  if (!problems.empty()) return problems.take();
  ErrorBands made;
  std::array<std::array<bool, kSizes>, 2> set{};
  for (const CsvTable::Row& row : table.rows) {
    const auto cell = [&](std::size_t c) -> const CsvTable::Cell& {
      return row.cells[static_cast<std::size_t>(at[c])];
    };
    const Location where{file, cell(0).at.line, cell(0).at.column};
    const std::size_t nodes = index_of(kNodes, cell(0).text);
    const std::size_t size = index_of(kSizeNames, cell(1).text);
    if (nodes == kNodes.size() || size == kSizes) {
      problems.add(where, "\"{}\", \"{}\" is no band", cell(0).text, cell(1).text);
      continue;
    }
    if (set[nodes][size]) problems.add(where, "this band is there twice");
    set[nodes][size] = true;
    const auto low = read_number(cell(2).text, where, "low", 1e-6, 1e6, problems);
    const auto high = read_number(cell(3).text, where, "high", low.value_or(1e-6), 1e6, problems);
    if (low && high) made.bands_[nodes][size] = {*low, *high};
  }
  for (const auto& of_nodes : set) {
    if (std::find(of_nodes.begin(), of_nodes.end(), false) != of_nodes.end())
      problems.add({file, 0, 0}, "a band is missing; there are {}", 2 * kSizes);
  }
  if (!problems.empty()) return problems.take();
  return made;
}

Expected<ErrorBands> ErrorBands::load(const std::string& library_folder) {
  const std::string path = library_folder + "/nccl_error.csv";
  const auto text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  return parse(*text, path);
}

std::string ErrorBands::to_csv() const {
  std::string text = "nodes,size,low,high\n";
  for (std::size_t nodes = 0; nodes < 2; ++nodes) {
    for (std::size_t size = 0; size < kSizes; ++size)
      text += fmt::format("{},{},{:.3f},{:.3f}\n", kNodes[nodes], kSizeNames[size], bands_[nodes][size].low,
                          bands_[nodes][size].high);
  }
  return text;
}

}  // namespace tutti::core::nccl
