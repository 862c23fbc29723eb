#include "core/explore/database.h"

#include <sqlite3.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/check.h"

namespace tutti::core {
namespace {

/// The first bytes of SQLite's files.
constexpr std::string_view kMagic = "SQLite format 3";
/// So long another program may keep the file to itself.
constexpr int kPatienceMs = 10'000;

Error told(const std::string& path, int status, const char* message) {
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
                        path + ": the disk is full; points written before are kept");
    case SQLITE_CORRUPT:
      return Error::run({ProblemCode::kDamaged}, path + ": this database is damaged");
    default: return Error::run({ProblemCode::kSystem}, path + ": " + message);
  }
}

}  // namespace

bool is_database(const std::string& path) {
  std::error_code ignored;
  // Pipes and devices may never answer.
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
  const int status = sqlite3_step(statement_.get());
  if (status == SQLITE_ROW) return true;
  if (status == SQLITE_DONE) return false;
  const Error error = told(path_, status, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
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

Expected<Database> Database::open(const std::string& path, Mode mode) {
  sqlite3* raw = nullptr;
  // Whoever is not allowed to write leaves the files beside a database there when he closes it;
  // SQLite itself does with less where the file cannot be written.
  const int flags = SQLITE_OPEN_READWRITE | (mode == Mode::kRead ? 0 : SQLITE_OPEN_CREATE);
  // No locking: callers that share a database across threads must serialise access.
  const int status = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, nullptr);
  Database database(raw, path);
  if (const int why = raw ? sqlite3_system_errno(raw) : 0;
      (status & 0xff) == SQLITE_CANTOPEN && why != 0) {
    return tl::make_unexpected(
        Error::request(std::string("cannot be opened as an SQLite database: ") + std::strerror(why),
                       {path, 0, 0}));
  }
  if (status != SQLITE_OK)
    return tl::make_unexpected(told(path, status, raw ? sqlite3_errmsg(raw) : "out of memory"));
  sqlite3_busy_timeout(raw, kPatienceMs);
  if (auto readable = database.number("PRAGMA application_id"); !readable)
    return tl::make_unexpected(readable.error());
  if (mode == Mode::kRead) {
    if (auto only = database.run("PRAGMA query_only = ON"); !only)
      return tl::make_unexpected(only.error());
  }
  return database;
}

Expected<Statement> Database::prepare(const std::string& sql) {
  sqlite3_stmt* raw = nullptr;
  const int status = sqlite3_prepare_v2(database_.get(), sql.c_str(),
                                        static_cast<int>(sql.size() + 1), &raw, nullptr);
  if (status != SQLITE_OK)
    return tl::make_unexpected(told(path_, status, sqlite3_errmsg(database_.get())));
  return Statement(raw, path_);
}

Expected<void> Database::run(const std::string& sql) {
  const int status = sqlite3_exec(database_.get(), sql.c_str(), nullptr, nullptr, nullptr);
  if (status != SQLITE_OK)
    return tl::make_unexpected(told(path_, status, sqlite3_errmsg(database_.get())));
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
