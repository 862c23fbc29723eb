#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/base/error.h"
#include "core/timeline/reader.h"

namespace tutti::core {

/// A timeline whose records can be queried.
struct QueriedTimeline {
  std::string name;  ///< the value of the column `timeline`, such as "simulated"
  const TimelineReader* reader = nullptr;
};

/// A table of timeline records.
struct QueryTable {
  std::string name;
  std::string about;  ///< description of the table in one sentence
  std::vector<std::string> columns;
};
/// Returns the tables that a query can read.
const std::vector<QueryTable>& query_tables();

/// A query that is useful for any timeline.
struct ExampleQuery {
  std::string title;
  std::string sql;
};
const std::vector<ExampleQuery>& example_queries();

using QueryValue = std::variant<std::monostate, std::int64_t, double, std::string>;

struct QueryResult {
  std::vector<std::string> columns;
  std::vector<std::vector<QueryValue>> rows;
  bool truncated = false;  ///< true: the query has more rows than QueryOptions allow
};

struct QueryOptions {
  std::size_t max_rows = 10'000;
  /// If `stop` becomes true, the query ends with an error.
  const std::atomic<bool>* stop = nullptr;
  /// The maximum number of values that all percentile() aggregates together store at a time, with 8
  /// bytes each.
  std::size_t max_percentile_values = 50'000'000;
};

/// The place of a span in its timeline.
struct SpanPlace {
  std::size_t timeline = 0;
  TrackId track = kNoTrack;
  std::int64_t index = 0;  ///< the number of earlier spans on the same track
  bool operator==(const SpanPlace&) const = default;
};

struct QueryCatalog;

/// Answers SQL queries about timelines. SQLite reads the timelines through virtual tables, so
/// nothing is copied into a database, and only the blocks of the file that a query needs are read.
/// SQLite moves large sorts and groups to temporary files, which it deletes when the query ends.
/// Queries cannot change the timelines. Any number of threads may run queries at the same time.
class TimelineQuery {
 public:
  /// REQUIRES: the readers outlive the object.
  explicit TimelineQuery(std::vector<QueriedTimeline> timelines);

  /// Runs one SELECT statement. ERRORS: the SQL is wrong, is not a single SELECT statement, or
  /// exceeds the limits (kRequest); a block of the timeline is damaged, memory or space for
  /// temporary files is exhausted, or the query was stopped (kRun).
  /// Cost: about 0.3 µs per span that is visited.
  [[nodiscard]] Expected<QueryResult> run(const std::string& sql,
                                          const QueryOptions& options = {}) const;

  /// Returns the place of the span with this value of the column `span_id`; nullopt if there is
  /// none.
  [[nodiscard]] std::optional<SpanPlace> place_of(std::int64_t span_id) const;

 private:
  std::shared_ptr<const QueryCatalog> catalog_;
};

}  // namespace tutti::core
