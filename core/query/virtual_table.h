#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/error.h"

namespace tutti::core {

/// The rows of a table, one after the other.
class TableCursor : public sqlite3_vtab_cursor {
 public:
  TableCursor() : sqlite3_vtab_cursor() {}
  TableCursor(const TableCursor&) = delete;
  TableCursor& operator=(const TableCursor&) = delete;
  virtual ~TableCursor() = default;
  /// Goes to the first row. `plan` is the plan number (SQLite's idxNum) that
  /// VirtualTable::best_index() chose, and `values` are the values of the query's conditions that
  /// this plan uses.
  virtual Expected<void> start(int plan, sqlite3_value** values) = 0;
  virtual Expected<void> next() = 0;
  [[nodiscard]] virtual bool at_end() const = 0;
  virtual void put_column(sqlite3_context* out, int column) const = 0;
  [[nodiscard]] virtual std::int64_t row_number() const = 0;
};

/// An eponymous virtual table of SQLite: it exists in every database without CREATE VIRTUAL TABLE.
class VirtualTable : public sqlite3_vtab {
 public:
  VirtualTable() : sqlite3_vtab() {}
  VirtualTable(const VirtualTable&) = delete;
  VirtualTable& operator=(const VirtualTable&) = delete;
  virtual ~VirtualTable() = default;
  [[nodiscard]] virtual std::string columns() const = 0;
  virtual void best_index(sqlite3_index_info& info) const = 0;
  [[nodiscard]] virtual std::unique_ptr<TableCursor> open() const = 0;
};

using MakeTable = std::function<std::unique_ptr<VirtualTable>()>;

/// Adds a table to a database. Returns an SQLite status. `make` is called for each query that uses
/// the table.
int add_table(sqlite3* database, const char* name, const MakeTable& make);

}  // namespace tutti::core
