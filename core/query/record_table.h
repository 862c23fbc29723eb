#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/query/timeline_columns.h"
#include "core/query/virtual_table.h"

namespace tutti::core {

/// A table of records that the reader holds in memory: steps, packs, gradients, links and path.
class RecordTable : public VirtualTable {
 public:
  using Count = std::size_t (*)(const TimelineReader&);
  RecordTable(const QueryCatalog& catalog, const std::vector<QueryColumn<RecordRow>>& columns,
              Count count, bool gradients = false)
      : catalog_(catalog), columns_(columns), count_(count), gradients_(gradients) {}

  [[nodiscard]] std::string columns() const override { return declaration(columns_); }
  void best_index(sqlite3_index_info& info) const override {
    info.estimatedCost = 1000;
    info.estimatedRows = 1000;
  }
  [[nodiscard]] std::unique_ptr<TableCursor> open() const override;

 private:
  class Rows;
  const QueryCatalog& catalog_;
  const std::vector<QueryColumn<RecordRow>>& columns_;
  Count count_;
  bool gradients_;  ///< true: the table has a row for each gradient of each pack; false: it has a
                    ///< row for each record
};

}  // namespace tutti::core
