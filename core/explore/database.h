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

/// An SQL statement with parameters ?1, ?2, …. To use a statement, bind the parameters, step
/// through the rows, and reset the statement before the next use.
class Statement {
 public:
  Statement& bind(int parameter, std::int64_t value);
  Statement& bind(int parameter, std::string_view value);
  Statement& bind_null(int parameter);

  /// Advances to the next row. Returns false if there are no more rows. ERRORS (kRun): for example,
  /// the disk is full, or the file is damaged.
  Expected<bool> step();
  /// Runs the statement to its end and resets it. ERRORS: as for step().
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
  std::shared_ptr<int> calls_;  ///< number of calls of SQLite's progress handler since the last row
};

/// True if the file begins like an SQLite database.
bool is_database(const std::string& path);

/// An SQLite database in a file. Data that was committed is not lost if the process is killed.
///
/// The file may come from an untrusted source, so views and triggers in the file's schema can only
/// call functions that SQLite considers harmless (SQLITE_INNOCUOUS). A statement that runs for some
/// seconds without returning a row is aborted. If the file is read-only, no other files are created
/// next to it.
class Database {
 public:
  enum class Mode { kRead, kWrite };
  /// Opens a database. kWrite creates the file if it does not exist.
  /// ERRORS: the file cannot be opened; the file is not a database.
  static Expected<Database> open(const std::string& path, Mode mode);

  /// Compiles an SQL statement.
  /// ERRORS (kRun): as for Statement::step().
  Expected<Statement> prepare(const std::string& sql);
  Expected<void> run(const std::string& sql);
  /// True if the file has an ordinary table (not virtual, and not a view) of this name.
  /// ERRORS: as for Statement::step().
  Expected<bool> has_table(std::string_view name);
  /// Returns the number of triggers, virtual tables and views in the file. The view `result`, which
  /// Tutti creates, is not counted.
  /// ERRORS: as for Statement::step().
  Expected<std::int64_t> programs();
  /// Switches the database to write-ahead logging. If another program is switching the database at
  /// the same time, waits for that program. ERRORS: as for Statement::step().
  Expected<void> log_ahead();
  /// Returns the first column of the first row of a query; nullopt if there is no row.
  /// ERRORS: as for Statement::step().
  Expected<std::optional<std::int64_t>> number(const std::string& sql);

  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  Database(sqlite3* database, std::string path) : database_(database), path_(std::move(path)) {}
  static Expected<Database> open_with(const std::string& path, const std::string& name, int flags);
  Expected<void> distrust();

  /// The number of calls of SQLite's progress handler. The counter is allocated separately, because
  /// it must outlive the connection.
  std::shared_ptr<int> calls_ = std::make_shared<int>(0);
  std::unique_ptr<sqlite3, Close> database_;
  std::string path_;
};

/// Returns a name as an SQL identifier in double quotes.
std::string quoted(std::string_view name);

}  // namespace tutti::core
