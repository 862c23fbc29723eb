#pragma once

#include <optional>
#include <string>
#include <vector>

namespace tutti::tools {

/// A column of a table in the format of nccl-tests.
struct PerfColumn {
  std::string name;
  std::string unit;  ///< printed below the name, such as "(us)"; may be empty
  int width = 0;     ///< in characters
  /// If the terminal is too narrow, the column with the largest `omitted` is omitted first. 0: the
  /// column is never omitted.
  int omitted = 0;
  /// The common heading of adjacent columns, such as "out-of-place"; may be empty.
  std::string group{};
};

/// Formats tables as nccl-tests does: right-aligned columns of fixed width, which are printed row
/// by row. A terminal that is narrower than the table gets fewer columns.
class PerfColumns {
 public:
  /// `room`: the number of characters that a line may have; nullopt: all columns are shown.
  PerfColumns(std::vector<PerfColumn> columns, std::optional<int> room);

  /// Returns the heading: lines with the groups, names and units of the columns. A further line
  /// names the columns that were omitted.
  [[nodiscard]] std::string titles() const;
  /// Returns a row. REQUIRES: one cell for each column, including omitted columns.
  [[nodiscard]] std::string row(const std::vector<std::string>& cells) const;

 private:
  [[nodiscard]] std::string line(std::string start, const std::vector<std::string>& cells) const;
  [[nodiscard]] std::string groups() const;

  std::vector<PerfColumn> columns_;
  std::vector<bool> shown_;  ///< by column
};

/// Returns the columns of nccl-tests that describe a request: size, count, type, operation and
/// root.
std::vector<PerfColumn> perf_columns_of_request();
/// Adds the columns for out-of-place or in-place results in nccl-tests' table: the time, two
/// bandwidths, and the number of wrong elements. `group`: "out-of-place" or "in-place".
void add_perf_half(std::vector<PerfColumn>& columns, const std::string& group);

}  // namespace tutti::tools
