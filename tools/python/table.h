#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tutti::python {

/// A column of texts in Arrow's utf8 layout, which concatenates all texts in `bytes`. Text i is
/// bytes[ends[i], ends[i + 1]).
struct Texts {
  std::vector<std::int32_t> ends{0};  ///< a leading 0, then the end offset of each text
  std::string bytes;

  void add(std::string_view text);
  [[nodiscard]] std::size_t size() const { return ends.size() - 1; }
  [[nodiscard]] std::string_view at(std::size_t i) const {
    const std::size_t from = ends[i];
    return std::string_view(bytes).substr(from, static_cast<std::size_t>(ends[i + 1]) - from);
  }
};

/// A column of a table. The column has the memory layout of NumPy and Arrow, so both libraries can
/// read it in place.
struct Column {
  using Values = std::variant<std::vector<std::int64_t>, std::vector<std::int32_t>,
                              std::vector<double>, Texts>;

  std::string name;
  Values values;
  /// The names of the categories, if the column is categorical; each value is then the index
  /// (int32) of a name. Empty: the values are numbers.
  std::vector<std::string> categories{};

  [[nodiscard]] std::size_t size() const;
};

/// Columns of equal length. A table is immutable. NumPy and Arrow arrays that are views of a column
/// share the memory of the table.
class Table {
 public:
  /// REQUIRES: the columns have equal length and different names; categorical values are in range.
  explicit Table(std::vector<Column> columns);

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  /// Returns the column with this name; null if there is none.
  [[nodiscard]] const Column* find(std::string_view name) const;

 private:
  std::vector<Column> columns_;
  std::size_t rows_ = 0;
};

}  // namespace tutti::python
