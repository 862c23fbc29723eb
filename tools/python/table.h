#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace tutti::python {

/// Texts one after the other: text i is bytes[ends[i - 1], ends[i]) (Arrow's layout of utf8).
struct Texts {
  std::vector<std::int32_t> ends{0};  ///< end of each text, after a leading 0
  std::string bytes;

  void add(std::string_view text);
  [[nodiscard]] std::size_t size() const { return ends.size() - 1; }
  [[nodiscard]] std::string_view at(std::size_t i) const {
    const auto from = static_cast<std::size_t>(ends[i]);
    return std::string_view(bytes).substr(from, static_cast<std::size_t>(ends[i + 1]) - from);
  }
};

/// A column of a table. Memory is laid out as NumPy and Arrow have it, so both read it in place.
struct Column {
  using Values = std::variant<std::vector<std::int64_t>, std::vector<std::int32_t>,
                              std::vector<double>, Texts>;

  std::string name;
  Values values;
  /// For int32 columns: the names that the values are indices of (a categorical column). Empty: the
  /// values are numbers.
  std::vector<std::string> categories{};

  [[nodiscard]] std::size_t size() const;
};

/// Columns of equal length. Immutable once made, and shared by all arrays that show it.
class Table {
 public:
  /// REQUIRES: columns of equal length with different names; categorical values in range.
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
