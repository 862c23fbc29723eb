#include "core/explore/database.h"

#include <sqlite3.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/check.h"
#include "core/base/file.h"

namespace tutti::core {
namespace {

/// The first bytes of an SQLite file.
constexpr std::string_view kMagic = "SQLite format 3";
/// The time to wait for a file that another program has locked.
constexpr int kPatienceMs = 10'000;
/// A statement is aborted if it runs for about `kStepsPerCall` · `kMaxCalls` instructions of
/// SQLite's virtual machine without returning a row, which takes some seconds. SQLite calls a
/// progress handler every `kStepsPerCall` instructions, and the handler counts the calls. Reading
/// the rows of a million points in order takes 1/200 of the limit.
constexpr int kStepsPerCall = 100'000;
constexpr int kMaxCalls = 1'000;

int too_long(void* calls) { return ++*static_cast<int*>(calls) > kMaxCalls ? 1 : 0; }

Error sqlite_error(const std::string& path, int status, const char* message) {
  switch (status & 0xff) {
    case SQLITE_NOTADB:
      return Error::request({ProblemCode::kWrongType},
                            "this is not an SQLite database; choose another file", {path, 0, 0});
    case SQLITE_CANTOPEN:
      return Error::request("cannot be opened as an SQLite database", {path, 0, 0});
    case SQLITE_READONLY:
    case SQLITE_PERM: return Error::request("is read-only", {path, 0, 0});
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return Error::run(
          {ProblemCode::kSystem},
          path + ": another program has locked this file; try again when that program has ended");
    case SQLITE_FULL:
      return Error::run({ProblemCode::kSystem},
                        path + ": the disk is full; all points written so far are kept");
    case SQLITE_INTERRUPT:
      return Error::run({ProblemCode::kDamaged},
                        path +
                            ": a query of this database takes too long; the file was changed by "
                            "another program, or is damaged");
    case SQLITE_IOERR:
      return Error::run({ProblemCode::kSystem},
                        fmt::format("{}: {}; all points written so far are kept", path, message));
    case SQLITE_CORRUPT:
      return Error::request({ProblemCode::kDamaged}, "this database is damaged", {path, 0, 0});
    default: return Error::run({ProblemCode::kSystem}, path + ": " + message);
  }
}

}  // namespace

bool is_database(const std::string& path) {
  std::error_code ignored;
  // Reading from a pipe or a device may block forever.
  if (!std::filesystem::is_regular_file(path, ignored)) return false;
  std::ifstream file(path, std::ios::binary);
  std::string begin(kMagic.size(), '\0');
  file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return file && begin == kMagic;
}

void Statement::Close::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Statement& Statement::bind(int parameter, std::int64_t value) {
  const int status = sqlite3_bind_int64(statement_.get(), parameter, value);
  TUTTI_CHECK(status == SQLITE_OK, "parameter {}: status {}", parameter, status);
  return *this;
}

Statement& Statement::bind(int parameter, std::string_view value) {
  const int status = sqlite3_bind_text64(statement_.get(), parameter, value.data(), value.size(),
                                         SQLITE_TRANSIENT, SQLITE_UTF8);
  TUTTI_CHECK(status == SQLITE_OK, "parameter {}: status {}", parameter, status);
  return *this;
}

Statement& Statement::bind_null(int parameter) {
  const int status = sqlite3_bind_null(statement_.get(), parameter);
  TUTTI_CHECK(status == SQLITE_OK, "parameter {}: status {}", parameter, status);
  return *this;
}

Expected<bool> Statement::step() {
  *calls_ = 0;
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  const Error error =
      sqlite_error(path_, status, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
  reset();
  return tl::make_unexpected(error);
}

Expected<void> Statement::run() {
  Expected<bool> row = true;
  while (row && *row) row = step();
  reset();
  if (!row) return tl::make_unexpected(row.error());
  return {};
}

void Statement::reset() { sqlite3_reset(statement_.get()); }

std::int64_t Statement::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

std::string Statement::text(int column) const {
  const auto* const bytes =
      reinterpret_cast<const char*>(sqlite3_column_text(statement_.get(), column));
  return bytes
             ? std::string(bytes,
                           static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column)))
             : "";
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close(database); }

namespace {

/// Returns the error number if the file `path` does not exist and cannot be created; otherwise 0.
/// SQLite does not report this error: if it cannot create a file, it also tries to open the file
/// for reading only, and then reports that the file does not exist.
int reason_not_created(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored)) return 0;
  std::FILE* const created = std::fopen(path.c_str(), "ab");
  if (!created) return errno;
  // The reason is gone. The file is not removed, because another process may have opened it.
  std::fclose(created);
  return 0;
}

/// Returns SQLite's URI of a file that does not change while it is read.
std::string immutable(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/._-").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri + "?immutable=1";
}

}  // namespace

Expected<Database> Database::open(const std::string& path, Mode mode) {
  // Even readers open the file for writing if possible, because a read-only connection does not
  // delete SQLite's auxiliary files when it is closed.
  if (mode == Mode::kWrite) {
    if (auto is_file = check_is_file(path, "a sweep"); !is_file)
      return tl::make_unexpected(is_file.error());
    auto database = open_with(path, path, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    if (const int why = database ? 0 : reason_not_created(path); why != 0)
      return tl::make_unexpected(
          Error::request({ProblemCode::kInvalid},
                         std::string("cannot be written: ") + std::strerror(why), {path, 0, 0}));
    return database;
  }
  auto database = open_with(path, path, SQLITE_OPEN_READWRITE);
  std::error_code status;
  namespace fs = std::filesystem;
  const bool may_not_write = !std::fstream(path, std::ios::in | std::ios::out | std::ios::binary);
  if (!database && may_not_write && fs::is_regular_file(path, status)) {
    // The folder may be read-only. SQLite then cannot create its auxiliary files there, so the file
    // is opened as immutable.
    if (fs::file_size(path + "-wal", status) > 0 && !status)
      return tl::make_unexpected(
          Error::request({ProblemCode::kInvalid},
                         fmt::format("this file is read-only, and its latest rows are in {}-wal; "
                                     "copy both files to a writable folder",
                                     path),
                         {path, 0, 0}));
    database = open_with(path, immutable(path), SQLITE_OPEN_READONLY | SQLITE_OPEN_URI);
  }
  if (!database) return database;
  if (auto only = database->run("PRAGMA query_only = ON"); !only)
    return tl::make_unexpected(only.error());
  return database;
}

Expected<Database> Database::open_with(const std::string& path, const std::string& name,
                                       int flags) {
  sqlite3* raw = nullptr;
  // SQLite does no locking between threads. Callers that share a database must prevent concurrent
  // calls.
  const int status = sqlite3_open_v2(name.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw, path);
  if (const int why = raw ? sqlite3_system_errno(raw) : 0;
      (status & 0xff) == SQLITE_CANTOPEN && why != 0) {
    return tl::make_unexpected(
        Error::request(std::string("cannot be opened as an SQLite database: ") + std::strerror(why),
                       {path, 0, 0}));
  }
  if (status != SQLITE_OK)
    return tl::make_unexpected(
        sqlite_error(path, status, raw ? sqlite3_errmsg(raw) : "out of memory"));
  sqlite3_busy_timeout(raw, kPatienceMs);
  if (auto distrusted = database.distrust(); !distrusted)
    return tl::make_unexpected(distrusted.error());
  if (auto readable = database.number("PRAGMA application_id"); !readable)
    return tl::make_unexpected(readable.error());
  return database;
}

/// Restricts what SQLite does, because the file may come from an untrusted source.
Expected<void> Database::distrust() {
  sqlite3* const raw = database_.get();
  sqlite3_db_config(raw, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(raw, SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  // Maximum length of a text or blob: twice the longest scenario.
  sqlite3_limit(raw, SQLITE_LIMIT_LENGTH, 128 << 20);
  sqlite3_progress_handler(raw, kStepsPerCall, too_long, calls_.get());
  for (const char* how : {"PRAGMA cell_size_check = ON", "PRAGMA mmap_size = 0"}) {
    if (auto set = run(how); !set) return set;
  }
  return {};
}

Expected<bool> Database::has_table(std::string_view name) {
  auto found = prepare(
      "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = ?1 AND sql LIKE 'CREATE "
      "TABLE%'");
  if (!found) return tl::make_unexpected(found.error());
  return found->bind(1, name).step();
}

Expected<std::int64_t> Database::programs() {
  const auto count = number(
      "SELECT count(*) FROM sqlite_master WHERE (type IN ('view', 'trigger') AND "
      "NOT (type = 'view' AND name = 'result')) OR sql LIKE 'CREATE VIRTUAL%'");
  if (!count) return tl::make_unexpected(count.error());
  return count->value_or(0);
}

Expected<void> Database::log_ahead() {
  // If two connections change the journal mode at the same time, SQLite rejects the second change
  // immediately and ignores sqlite3_busy_timeout(). Therefore retry.
  constexpr int kPauseMs = 20;
  for (int waited_ms = 0;; waited_ms += kPauseMs) {
    const int status =
        sqlite3_exec(database_.get(), "PRAGMA journal_mode = WAL", nullptr, nullptr, nullptr);
    if (status == SQLITE_OK) return run("PRAGMA synchronous = NORMAL");
    const bool busy = (status & 0xff) == SQLITE_BUSY || (status & 0xff) == SQLITE_LOCKED;
    if (!busy || waited_ms > kPatienceMs)
      return tl::make_unexpected(sqlite_error(path_, status, sqlite3_errmsg(database_.get())));
    sqlite3_sleep(kPauseMs);
  }
}

Expected<Statement> Database::prepare(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  const int status = sqlite3_prepare_v2(database_.get(), sql.c_str(),
                                        static_cast<int>(sql.size() + 1), &raw, nullptr);
  if (status != SQLITE_OK)
    return tl::make_unexpected(sqlite_error(path_, status, sqlite3_errmsg(database_.get())));
  return Statement(raw, path_, calls_);
}

Expected<void> Database::run(const std::string& sql) {
  *calls_ = 0;
  const int status = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK)
    return tl::make_unexpected(sqlite_error(path_, status, sqlite3_errmsg(database_.get())));
  return {};
}

Expected<std::optional<std::int64_t>> Database::number(const std::string& sql) {
  auto statement = prepare(sql);
  if (!statement) return tl::make_unexpected(statement.error());
  const auto row = statement->step();
  if (!row) return tl::make_unexpected(row.error());
  if (!*row) return std::optional<std::int64_t>();
  return std::optional(statement->integer(0));
}

std::string quoted(std::string_view name) {
  std::string text = "\"";
  for (const char c : name) {
    if (c == '"') text += c;
    text += c;
  }
  return text + '"';
}

}  // namespace tutti::core
