#include "core/nccl/calibration/spread.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "core/base/file.h"
#include "core/base/number.h"
#include "core/nccl/time/error_bands.h"
#include "core/text/csv.h"

namespace tutti::core::nccl {
namespace {

constexpr std::array<const char*, kScales> kScaleNames = {"launch",
                                                          "hops",
                                                          "fill",
                                                          "transfer",
                                                          "protocol",
                                                          "pattern",
                                                          "collective",
                                                          "smooth.system",
                                                          "smooth.protocol",
                                                          "smooth.pattern",
                                                          "smooth.collective",
                                                          "smooth.table",
                                                          "length",
                                                          "nodes_length",
                                                          "several_nodes",
                                                          "across",
                                                          "other_pattern",
                                                          "settings",
                                                          "row.small",
                                                          "row.large"};

std::string widening_name(std::size_t several, std::size_t size) {
  return fmt::format("widen.{}.{}", several == 1 ? "several nodes" : "one node",
                     ErrorBands::kSizeNames[size]);
}

}  // namespace

Spread Spread::initial() {
  Spread made;
  // Standard deviations are about 50 % for latencies and 10 % for rates. Smooth errors change
  // noticeably when the size changes by a factor of four.
  made.scales_ = {0.4,  0.4, 0.3, 0.1, 0.2, 0.15, 0.1, 0.1, 0.05, 0.05,
                  0.05, 0.1, 2,   3,   1.5, 0.5,  0.7, 0.7, 0.05, 0.03};
  for (auto& of_nodes : made.widening_) of_nodes.fill(1);
  return made;
}

Expected<Spread> Spread::parse(std::string_view text, const std::string& file) {
  Problems problems;
  const CsvTable table = parse_csv(text, file, problems);
  const std::vector<const char*> columns{"name", "value", "how"};
  const std::vector<std::size_t> at = table.required(columns, file, problems);
  if (!problems.empty()) return problems.take();
  Spread made;
  std::vector<bool> set(kScales + 2 * kSizes);
  for (const CsvTable::Row& row : table.rows) {
    const CsvTable::Cell& name = row.cells[at[0]];
    const CsvTable::Cell& cell = row.cells[at[1]];
    const Location where{file, name.at.line, name.at.column};
    std::optional<std::size_t> place;
    double* value = nullptr;
    for (std::size_t k = 0; k < kScales; ++k) {
      if (name.text == kScaleNames[k]) place = k, value = &made.scales_[k];
    }
    for (std::size_t k = 0; k < 2 * kSizes; ++k) {
      if (name.text == widening_name(k / kSizes, k % kSizes))
        place = kScales + k, value = &made.widening_[k / kSizes][k % kSizes];
    }
    if (!place) {
      problems.add({ProblemCode::kUnknownName, columns[0]}, where,
                   "there is no scale parameter named {}", name.text);
      continue;
    }
    if (set[*place])
      problems.add({ProblemCode::kDuplicate, columns[0]}, where, "{} is listed twice", name.text);
    set[*place] = true;
    if (const auto read = read_number(cell.text, {file, cell.at.line, cell.at.column}, columns[1],
                                      1e-6, 1e3, problems))
      *value = *read;
  }
  if (std::find(set.begin(), set.end(), false) != set.end())
    problems.add({ProblemCode::kMissing}, {file, 0, 0}, "a scale is missing");
  if (!problems.empty()) return problems.take();
  return made;
}

Expected<Spread> Spread::load(const std::string& library_folder) {
  return load_file(library_folder + "/nccl_spread.csv");
}

Expected<Spread> Spread::load_file(const std::string& path) {
  const auto text = read_text_file(path);
  if (!text) return tl::make_unexpected(text.error());
  return parse(*text, path);
}

std::string Spread::to_csv(const std::string& how) const {
  std::string text = "name,value,how\n";
  for (std::size_t k = 0; k < kScales; ++k)
    text += fmt::format("{},{:.4g},{}\n", kScaleNames[k], scales_[k], how);
  for (std::size_t k = 0; k < 2 * kSizes; ++k)
    text += fmt::format("{},{:.4g},{}\n", widening_name(k / kSizes, k % kSizes),
                        widening_[k / kSizes][k % kSizes], how);
  return text;
}

}  // namespace tutti::core::nccl
