#include "tools/python/table.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/check.h"

namespace tutti::python {

void Texts::add(std::string_view text) {
  TUTTI_CHECK(bytes.size() + text.size() <=
                  static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max()),
              "a text column can hold at most 2 GiB");
  bytes += text;
  ends.push_back(static_cast<std::int32_t>(bytes.size()));
}

std::size_t Column::size() const {
  return std::visit([](const auto& held) { return held.size(); }, values);
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  if (!columns_.empty()) rows_ = columns_.front().size();
  for (const Column& column : columns_) {
    TUTTI_CHECK(column.size() == rows_, "column {} has {} rows, but the first column has {}",
                column.name, column.size(), rows_);
    TUTTI_CHECK(column.categories.empty() ||
                    std::holds_alternative<std::vector<std::int32_t>>(column.values),
                "column {} is categorical, so its type must be int32", column.name);
  }
}

const Column* Table::find(std::string_view name) const {
  const auto found = std::find_if(columns_.begin(), columns_.end(),
                                  [&](const Column& column) { return column.name == name; });
  return found == columns_.end() ? nullptr : &*found;
}

}  // namespace tutti::python
