// Runs a query in an empty database in memory, which sees the timelines as virtual tables
// (timeline_tables.h). Every query has its own database, so queries do not disturb each other. An
// authorizer refuses all statements but SELECT: there is nothing to change, and a query must not
// open other databases. Large sorts and groups spill to temporary files, which SQLite deletes when
// the statement ends. SQLite calls a progress handler every few thousand instructions, which is how
// a query is stopped; the tables check the same flag while they read blocks. SQLite's messages are
// completed with the tables and columns that exist.

#include "core/query/timeline_query.h"

#include <sqlite3.h>

#include <algorithm>
#include <cctype>
#include <new>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/query/timeline_tables.h"

namespace tutti::core {
namespace {

constexpr int kStepsPerCall = 5'000;
/// A result with more bytes of text than this is truncated.
constexpr std::size_t kMaxText = 64'000'000;
/// The longest text or BLOB that a query may make.
constexpr int kMaxCell = 1'000'000;

struct CloseDatabase {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};
struct CloseStatement {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using Database = std::unique_ptr<sqlite3, CloseDatabase>;
using Statement = std::unique_ptr<sqlite3_stmt, CloseStatement>;

int only_reading(void*, int action, const char*, const char*, const char*, const char*) {
  const bool reads = action == SQLITE_SELECT || action == SQLITE_READ ||
                     action == SQLITE_FUNCTION || action == SQLITE_RECURSIVE;
  return reads ? SQLITE_OK : SQLITE_DENY;
}

int stopped(void* stop) { return *static_cast<const std::atomic<bool>*>(stop) ? 1 : 0; }

// --- the aggregate function percentile(x, percent) ---

struct PercentileInput {
  std::vector<double>* values;
  double percent;
};
/// The number of values that all percentile() aggregates of a query keep, and its maximum.
struct PercentileLimit {
  std::size_t kept = 0;
  std::size_t max_values = 0;
};
constexpr std::string_view kTooManyValues = "percentile(x, p): there are more than ";

void add_number(sqlite3_context* context, int, sqlite3_value** arguments) {
  auto* const numbers =
      static_cast<PercentileInput*>(sqlite3_aggregate_context(context, sizeof(PercentileInput)));
  if (!numbers) return sqlite3_result_error_nomem(context);
  if (sqlite3_value_type(arguments[0]) == SQLITE_NULL) return;
  auto& limit = *static_cast<PercentileLimit*>(sqlite3_user_data(context));
  if (limit.kept >= limit.max_values) {
    const std::string message =
        fmt::format("{}{} values; restrict them with WHERE", kTooManyValues, limit.max_values);
    sqlite3_result_error(context, message.c_str(), -1);
    return sqlite3_result_error_code(context, SQLITE_TOOBIG);
  }
  try {
    if (!numbers->values) numbers->values = new std::vector<double>;
    numbers->values->push_back(sqlite3_value_double(arguments[0]));
    ++limit.kept;
    numbers->percent = sqlite3_value_double(arguments[1]);
  } catch (const std::bad_alloc&) {
    sqlite3_result_error_nomem(context);
  }
}

/// Returns the value below which `percent` of the values lie, as in the window's panel of
/// statistics.
void put_percentile(sqlite3_context* context) {
  auto* const numbers = static_cast<PercentileInput*>(sqlite3_aggregate_context(context, 0));
  if (!numbers || !numbers->values) return;
  const std::unique_ptr<std::vector<double>> values(numbers->values);
  static_cast<PercentileLimit*>(sqlite3_user_data(context))->kept -= values->size();
  if (!(numbers->percent >= 0 && numbers->percent <= 100))
    return sqlite3_result_error(context, "percentile(x, p): p must be between 0 and 100", -1);
  const auto rank =
      static_cast<std::ptrdiff_t>(static_cast<double>(values->size() - 1) * numbers->percent / 100);
  std::nth_element(values->begin(), values->begin() + rank, values->end());
  sqlite3_result_double(context, (*values)[rank]);
}

// --- messages ---

/// Returns true if `sql` contains the name as a whole word.
bool mentions(std::string_view sql, std::string_view name) {
  const auto is_part = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
  };
  for (std::size_t at = sql.find(name); at != std::string_view::npos; at = sql.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at == 0 || !is_part(sql[at - 1])) && (end == sql.size() || !is_part(sql[end])))
      return true;
  }
  return false;
}

std::string hint_for(std::string_view message, std::string_view sql) {
  if (message.starts_with("no such table")) {
    std::vector<std::string> names;
    for (const QueryTable& table : query_tables()) names.push_back(table.name);
    return fmt::format("; the tables are {}", fmt::join(names, ", "));
  }
  if (!message.starts_with("no such column")) return "";
  std::string hint;
  for (const QueryTable& table : query_tables()) {
    if (mentions(sql, table.name))
      hint += fmt::format("; {} has {}", table.name, fmt::join(table.columns, ", "));
  }
  return hint;
}

Error only_reads() {
  return Error::request({ProblemCode::kUnsupported},
                        "a query can only read; write a SELECT statement");
}

Error query_error(sqlite3* database, int status, const std::string& sql) {
  const std::string message = sqlite3_errmsg(database);
  switch (status & 0xff) {
    case SQLITE_INTERRUPT: return Error::run({ProblemCode::kStopped}, "the query was stopped");
    case SQLITE_AUTH: return only_reads();
    case SQLITE_NOMEM:
      return Error::run({ProblemCode::kOutOfMemory},
                        "the query needs too much memory; restrict it with WHERE or LIMIT");
    case SQLITE_FULL:
      return Error::run({ProblemCode::kSystem},
                        "there is no space for the temporary files of the query; restrict it with "
                        "WHERE, or free disk space");
    case SQLITE_IOERR: {
      // A table describes the block that it could not read; temporary files have no description.
      const bool temporary = message == sqlite3_errstr(SQLITE_IOERR);
      return Error::run({temporary ? ProblemCode::kSystem : ProblemCode::kDamaged}, message);
    }
    case SQLITE_TOOBIG:
      if (message.starts_with(kTooManyValues))
        return Error::request({ProblemCode::kTooLarge}, message);
      return Error::request({ProblemCode::kTooLarge},
                            "the query makes a text of more than a million characters");
    default: break;
  }
  if (message.ends_with("may not be modified")) return only_reads();
  const int offset = sqlite3_error_offset(database);
  const std::string where = offset < 0 ? "" : fmt::format(" (at character {})", offset + 1);
  return Error::request({ProblemCode::kSyntax}, message + where + hint_for(message, sql));
}

QueryValue value_of(sqlite3_stmt* statement, int column) {
  switch (sqlite3_column_type(statement, column)) {
    case SQLITE_INTEGER: return std::int64_t{sqlite3_column_int64(statement, column)};
    case SQLITE_FLOAT: return sqlite3_column_double(statement, column);
    case SQLITE_NULL: return std::monostate();
    default: {
      const auto* const text =
          reinterpret_cast<const char*>(sqlite3_column_text(statement, column));
      if (!text) return std::monostate();
      return std::string(text, static_cast<std::size_t>(sqlite3_column_bytes(statement, column)));
    }
  }
}

/// Compiles the only statement of `sql`.
Expected<Statement> compile(sqlite3* database, const std::string& sql) {
  sqlite3_stmt* compiled = nullptr;
  const char* rest = nullptr;
  int status =
      sqlite3_prepare_v2(database, sql.c_str(), static_cast<int>(sql.size()), &compiled, &rest);
  Statement statement(compiled);
  if (status != SQLITE_OK) return tl::make_unexpected(query_error(database, status, sql));
  if (!statement)
    return tl::make_unexpected(Error::request(
        {ProblemCode::kMissing}, "there is no query; enter one, such as SELECT * FROM packs"));
  status = sqlite3_prepare_v2(database, rest, -1, &compiled, nullptr);
  if (compiled || status != SQLITE_OK) {
    sqlite3_finalize(compiled);
    return tl::make_unexpected(
        Error::request({ProblemCode::kUnsupported},
                       "there is more than one statement; enter a single SELECT statement"));
  }
  return statement;
}

}  // namespace

TimelineQuery::TimelineQuery(std::vector<QueriedTimeline> timelines)
    : catalog_(std::make_shared<QueryCatalog>(std::move(timelines))) {}

Expected<QueryResult> TimelineQuery::run(const std::string& sql,
                                         const QueryOptions& options) const {
  constexpr std::size_t kMaxQuery = 100'000;
  if (sql.size() > kMaxQuery)
    return tl::make_unexpected(Error::request(
        {ProblemCode::kTooLarge}, "the query has more than 100,000 characters; shorten it"));
  sqlite3* opened = nullptr;
  int status =
      sqlite3_open_v2(":memory:", &opened,
                      SQLITE_OPEN_READWRITE | SQLITE_OPEN_MEMORY | SQLITE_OPEN_NOMUTEX, nullptr);
  PercentileLimit percentiles{0, options.max_percentile_values};  // outlives the database
  const Database database(opened);
  if (status == SQLITE_OK) status = add_tables(database.get(), *catalog_, options.stop);
  if (status == SQLITE_OK)
    status = sqlite3_create_function_v2(database.get(), "percentile", 2,
                                        SQLITE_UTF8 | SQLITE_DETERMINISTIC, &percentiles, nullptr,
                                        add_number, put_percentile, nullptr);
  if (status != SQLITE_OK) return tl::make_unexpected(query_error(database.get(), status, sql));
  // SQLite declares a virtual table when a statement names it first, which the authorizer would
  // refuse.
  for (const QueryTable& table : query_tables()) {
    const auto declared = compile(database.get(), "SELECT 1 FROM " + table.name);
    if (!declared) return tl::make_unexpected(declared.error());
  }
  sqlite3_set_authorizer(database.get(), only_reading, nullptr);
  sqlite3_limit(database.get(), SQLITE_LIMIT_LENGTH, kMaxCell);
  if (options.stop)
    sqlite3_progress_handler(database.get(), kStepsPerCall, stopped,
                             const_cast<std::atomic<bool>*>(options.stop));

  const auto compiled = compile(database.get(), sql);
  if (!compiled) return tl::make_unexpected(compiled.error());
  sqlite3_stmt* const statement = compiled->get();
  QueryResult result;
  const int columns = sqlite3_column_count(statement);
  for (int c = 0; c < columns; ++c) result.columns.emplace_back(sqlite3_column_name(statement, c));
  std::size_t text = 0;
  for (status = sqlite3_step(statement); status == SQLITE_ROW; status = sqlite3_step(statement)) {
    if (result.rows.size() == options.max_rows || text > kMaxText) {
      result.truncated = true;
      return result;
    }
    std::vector<QueryValue>& row = result.rows.emplace_back();
    row.reserve(columns);
    for (int c = 0; c < columns; ++c) {
      row.push_back(value_of(statement, c));
      if (const auto* const cell = std::get_if<std::string>(&row.back())) text += cell->size();
    }
  }
  if (status != SQLITE_DONE) return tl::make_unexpected(query_error(database.get(), status, sql));
  return result;
}

std::optional<SpanPlace> TimelineQuery::place_of(std::int64_t span_id) const {
  if (span_id < 0 || span_id >= catalog_->spans) return std::nullopt;
  const auto after = std::upper_bound(
      catalog_->rows.begin(), catalog_->rows.end(), span_id,
      [](std::int64_t wanted, const QueryCatalog::Rows& rows) { return wanted < rows.first_id; });
  const QueryCatalog::Rows& rows = *(after - 1);
  return SpanPlace{rows.timeline, rows.track.id, span_id - rows.first_id};
}

const std::vector<ExampleQuery>& example_queries() {
  static const std::vector<ExampleQuery> examples{
      {"The longest spans",
       "SELECT span_id, device, what, step, pack, start_us, duration_us, wait_us\n"
       "FROM spans ORDER BY duration_us DESC LIMIT 100"},
      {"Durations by kind of span",
       "SELECT what, count(*) AS spans, sum(duration_us) AS sum_us,\n"
       "  percentile(duration_us, 50) AS p50_us, percentile(duration_us, 99) AS p99_us\n"
       "FROM spans GROUP BY what ORDER BY sum_us DESC"},
      {"Time and waiting of each device",
       "SELECT device, what, sum(duration_us) AS sum_us, sum(wait_us) AS waited_us\n"
       "FROM spans GROUP BY device, what ORDER BY device, sum_us DESC"},
      {"Packs that start late",
       "SELECT step, pack, bytes, ready_us, start_us, end_us, start_us - ready_us AS late_us\n"
       "FROM packs ORDER BY late_us DESC LIMIT 100"},
      {"Packs with the lowest bandwidth",
       "SELECT step, pack, bytes, start_us, end_us, time_us,\n"
       "  bytes / nullif(time_us, 0) / 1000 AS gb_per_s\n"
       "FROM packs ORDER BY gb_per_s LIMIT 100"},
      {"The pack of each gradient",
       "SELECT g.gradient, g.pack, p.bytes, p.step, p.ready_us, p.start_us, p.end_us\n"
       "FROM gradients g JOIN packs p ON p.pack = g.pack AND p.timeline = g.timeline\n"
       "WHERE p.step = (SELECT max(step) FROM steps) ORDER BY g.pack"},
      {"Bytes between devices",
       "SELECT sender, receiver, count(*) AS messages, sum(bytes) AS bytes, sum(time_us) AS "
       "sum_us\n"
       "FROM messages GROUP BY sender, receiver ORDER BY bytes DESC"},
      {"The slowest messages",
       "SELECT span_id, sender, receiver, step, pack, start_us, time_us, bytes, gb_per_s\n"
       "FROM messages WHERE bytes > 0 ORDER BY gb_per_s LIMIT 100"},
      {"The busiest links",
       "SELECT link, kind, bandwidth_gb_per_s, bytes, busy_share\n"
       "FROM links ORDER BY busy_share DESC LIMIT 100"},
      {"The critical path by kind",
       "SELECT what, count(*) AS parts, sum(time_us) AS sum_us, sum(queued_us) AS queued_us\n"
       "FROM path GROUP BY what ORDER BY sum_us DESC"},
      {"Training steps",
       "SELECT step, start_us, end_us, time_us, exposed_communication_us,\n"
       "  exposed_communication_us / time_us AS exposed_share, slowest\n"
       "FROM steps"}};
  return examples;
}

}  // namespace tutti::core
