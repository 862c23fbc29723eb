// Connects SQLite's interface, which consists of functions of C, with the classes VirtualTable and
// TableCursor.

#include "core/query/virtual_table.h"

#include <new>

namespace tutti::core {
namespace {

/// Calls `what`, and returns its error as an SQLite status: SQLITE_INTERRUPT if the query was
/// stopped, or else SQLITE_IOERR, because only reading a block can fail. C code cannot pass
/// exceptions on.
template <class What>
int guarded(sqlite3_vtab* table, What what) {
  try {
    const Expected<void> done = what();
    if (done) return SQLITE_OK;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", done.error().message().c_str());
    return done.error().problems().front().kind.code == ProblemCode::kStopped ? SQLITE_INTERRUPT
                                                                              : SQLITE_IOERR;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

int connect(sqlite3* database, void* make, int, const char* const*, sqlite3_vtab** made,
            char** error) {
  try {
    std::unique_ptr<VirtualTable> table = (*static_cast<const MakeTable*>(make))();
    const int status = sqlite3_declare_vtab(database, table->columns().c_str());
    if (status == SQLITE_OK)
      *made = table.release();
    else
      *error = sqlite3_mprintf("%s", sqlite3_errmsg(database));
    return status;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}
int disconnect(sqlite3_vtab* table) {
  delete static_cast<VirtualTable*>(table);
  return SQLITE_OK;
}
int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  static_cast<VirtualTable*>(table)->best_index(*info);
  return SQLITE_OK;
}
int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** opened) {
  return guarded(table, [&]() -> Expected<void> {
    *opened = static_cast<VirtualTable*>(table)->open().release();
    return {};
  });
}
int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<TableCursor*>(cursor);
  return SQLITE_OK;
}
int start(sqlite3_vtab_cursor* cursor, int plan, const char*, int, sqlite3_value** values) {
  return guarded(cursor->pVtab,
                 [&] { return static_cast<TableCursor*>(cursor)->start(plan, values); });
}
int next(sqlite3_vtab_cursor* cursor) {
  return guarded(cursor->pVtab, [&] { return static_cast<TableCursor*>(cursor)->next(); });
}
int at_end(sqlite3_vtab_cursor* cursor) {
  return static_cast<TableCursor*>(cursor)->at_end() ? 1 : 0;
}
int column(sqlite3_vtab_cursor* cursor, sqlite3_context* out, int number) {
  return guarded(cursor->pVtab, [&]() -> Expected<void> {
    static_cast<TableCursor*>(cursor)->put_column(out, number);
    return {};
  });
}
int row_number(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
  *number = static_cast<TableCursor*>(cursor)->row_number();
  return SQLITE_OK;
}

/// A module without xCreate is eponymous.
sqlite3_module module() {
  sqlite3_module calls{};
  calls.xConnect = connect;
  calls.xBestIndex = best_index;
  calls.xDisconnect = disconnect;
  calls.xOpen = open_cursor;
  calls.xClose = close_cursor;
  calls.xFilter = start;
  calls.xNext = next;
  calls.xEof = at_end;
  calls.xColumn = column;
  calls.xRowid = row_number;
  return calls;
}

}  // namespace

int add_table(sqlite3* database, const char* name, const MakeTable& make) {
  static const sqlite3_module calls = module();
  return sqlite3_create_module_v2(database, name, &calls, new MakeTable(make),
                                  [](void* used) { delete static_cast<MakeTable*>(used); });
}

}  // namespace tutti::core
