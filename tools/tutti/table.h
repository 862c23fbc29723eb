#pragma once

#include <string>
#include <vector>

namespace tutti::tools {

/// A field's value, as a table names it.
inline std::string shown_value(const std::string& value) { return value.empty() ? "not set" : value; }

/// Columns of text, lined up. Cells of a column are right-aligned unless its heading begins with '<'.
class Table {
 public:
  explicit Table(std::vector<std::string> headings);
  void row(std::vector<std::string> cells);
  /// Every line begins with `indent` blanks.
  [[nodiscard]] std::string text(int indent) const;

 private:
  std::vector<bool> left_;
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace tutti::tools
