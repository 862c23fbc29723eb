#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

struct sqlite3;
struct sqlite3_stmt;

namespace tutti::core {

/// An SQL statement with parameters ?1, ?2, …: bind them, step through the rows, then reset it and
/// use it again.
class Statement {
 public:
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view value);
  Statement& bind_null(int parameter);

  /// Advances to the next row; false if there is none. ERRORS (kRun): the disk is full, the file is
  /// damaged, ….
  Expected<bool> step();
  /// Runs the statement to its end and resets it. ERRORS: as step().
  Expected<void> run();
  void reset();

  [[nodiscard]] std::int64_t integer(int column) const;
  [[nodiscard]] std::string text(int column) const;

 private:
  friend class Database;
  struct Close {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, std::string path, std::shared_ptr<int> calls)
      : statement_(statement), path_(std::move(path)), calls_(std::move(calls)) {}

  std::unique_ptr<sqlite3_stmt, Close> statement_;
  std::string path_;
  std::shared_ptr<int> calls_;  ///< calls of the progress handler since the last row
};

/// True if the file begins like an SQLite database.
bool is_database(const std::string& path);

/// An SQLite database in a file. Committed data survives if the process is killed.
///
/// The file may come from anyone. So its schema is not trusted (no views or triggers that call
/// functions), a statement that runs for very long without returning a row is ended, and a file
/// that may only be read is read without writing anything beside it.
class Database {
 public:
  enum class Mode { kRead, kWrite };
  /// kWrite: creates the file if it does not exist. ERRORS: not a database; cannot be opened.
  static Expected<Database> open(const std::string& path, Mode mode);

  /// ERRORS (kRun): as Statement::step().
  Expected<Statement> prepare(const std::string& sql);
  Expected<void> run(const std::string& sql);
  /// Returns true if the file has a plain table of this name. ERRORS: as Statement::step().
  Expected<bool> has_table(std::string_view name);
  /// Returns how many views, triggers and virtual tables the file has. ERRORS: as
  /// Statement::step().
  Expected<std::int64_t> programs();
  /// Sets up a write-ahead log. Waits while another program is doing the same. ERRORS: as
  /// Statement::step().
  Expected<void> log_ahead();
  /// Returns the first column of the first row of a query; nullopt without a row. ERRORS: as
  /// Statement::step().
  Expected<std::optional<std::int64_t>> number(const std::string& sql);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Database(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}
  static Expected<Database> open_with(const std::string& path, const std::string& name, int flags);
  Expected<void> distrust();

  std::shared_ptr<int> calls_ = std::make_shared<int>(0);  ///< outlives the connection
  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

/// Returns a name as an SQL identifier: "strategy.shards" in double quotes.
std::string quoted(std::string_view name);

}  // namespace tutti::core
