#pragma once

// The virtual tables of SQLite that read timelines. There are two kinds:
//
//   RecordTable  steps, packs, gradients, links, path: records that the reader holds in memory
//   SpanTable    spans, messages: blocks of spans, read from the file one at a time

#include <atomic>

#include "core/query/query_catalog.h"

struct sqlite3;

namespace tutti::core {

/// Adds the virtual tables to a database. Returns an SQLite status. If `stop` is not null and
/// becomes true, the tables end the query with SQLITE_INTERRUPT; a damaged block ends it with
/// SQLITE_IOERR. REQUIRES: the catalog and `stop` outlive the database.
int add_tables(sqlite3* database, const QueryCatalog& catalog, const std::atomic<bool>* stop);

}  // namespace tutti::core
