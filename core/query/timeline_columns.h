#pragma once

// The columns of the tables of a query. A table is a list of columns; a column computes its value
// from a row, which is a record in the memory of the reader or a span of a block.

#include <sqlite3.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/query/query_catalog.h"

namespace tutti::core {

/// A column of a table: its name and type in SQL, and the function that computes its value from a
/// row.
template <class Row>
struct QueryColumn {
  const char* name;
  const char* type;
  void (*put)(sqlite3_context* out, const Row& row);
};

/// The timeline to which a row belongs, which every row contains.
struct TimelineRow {
  const QueryCatalog& catalog;
  std::size_t timeline;
  [[nodiscard]] const TimelineReader& reader() const { return *catalog.timelines[timeline].reader; }
  [[nodiscard]] const std::string& name() const { return catalog.timelines[timeline].name; }
  [[nodiscard]] const RunInfo::PackInfo* pack(std::int32_t number) const {
    const auto& packs = reader().run().packs;
    return number >= 0 && static_cast<std::size_t>(number) < packs.size() ? &packs[number]
                                                                          : nullptr;
  }
};

/// A record in the memory of the reader.
struct RecordRow : TimelineRow {
  std::size_t i;          ///< the index of the record
  std::size_t inner = 0;  ///< the index of the gradient in the pack
};

/// A span. A row of the table `messages` is the span of the receive; Span::peer of this span names
/// the sender.
struct SpanRow : TimelineRow {
  const QueryCatalog::Rows& rows;
  const Span& span;
  std::int64_t id;
  [[nodiscard]] Time begun() const { return span.start + std::min(span.wait, span.duration); }
  [[nodiscard]] Time end() const { return span.start + span.duration; }
  [[nodiscard]] Time moving() const { return end() - begun(); }
  [[nodiscard]] const QueryCatalog::Rows* sender() const {
    return span.peer == kNoTrack ? nullptr : catalog.find(timeline, span.peer);
  }
};

extern const std::vector<QueryColumn<RecordRow>> kStepsColumns, kPacksColumns, kGradientsColumns,
    kLinksColumns, kPathColumns;
extern const std::vector<QueryColumn<SpanRow>> kSpansColumns, kMessagesColumns;

/// Returns the SQL statement that declares a table with these columns.
template <class Row>
std::string declaration(const std::vector<QueryColumn<Row>>& columns) {
  std::string text;
  for (const QueryColumn<Row>& column : columns)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", column.name, column.type);
  return "CREATE TABLE x(" + text + ")";
}

}  // namespace tutti::core
