#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/query/timeline_columns.h"
#include "core/query/virtual_table.h"

namespace tutti::core {

/// The table `spans` or the table `messages`. Its rows are read from the file, one block at a time.
class SpanTable : public VirtualTable {
 public:
  SpanTable(const QueryCatalog& catalog, const std::vector<QueryColumn<SpanRow>>& columns,
            bool messages, const std::atomic<bool>* stop)
      : catalog_(catalog), columns_(columns), messages_(messages), stop_(stop) {}

  [[nodiscard]] std::string columns() const override { return declaration(columns_); }
  void best_index(sqlite3_index_info& info) const override;
  [[nodiscard]] std::unique_ptr<TableCursor> open() const override;

 private:
  class Rows;
  /// Returns the bit of the plan number (TableCursor::start()) that says how the table uses a
  /// condition of the query to skip blocks; nullopt if the condition does not help.
  [[nodiscard]] std::optional<int> use_of(int column, int op) const;

  const QueryCatalog& catalog_;
  const std::vector<QueryColumn<SpanRow>>& columns_;
  bool messages_;
  const std::atomic<bool>* stop_;
};

}  // namespace tutti::core
