#include "core/query/timeline_tables.h"

#include <memory>
#include <utility>
#include <vector>

#include "core/query/record_table.h"
#include "core/query/span_table.h"

namespace tutti::core {
namespace {

template <class T>
std::unique_ptr<VirtualTable> made(T* table) {
  return std::unique_ptr<VirtualTable>(table);
}

}  // namespace

int add_tables(sqlite3* database, const QueryCatalog& catalog, const std::atomic<bool>* stop) {
  const QueryCatalog* const of = &catalog;
  const std::vector<std::pair<const char*, MakeTable>> tables{
      {"steps",
       [of] {
         return made(new RecordTable(*of, kStepsColumns,
                                     [](const TimelineReader& r) { return r.steps().size(); }));
       }},
      {"packs",
       [of] {
         return made(new RecordTable(*of, kPacksColumns,
                                     [](const TimelineReader& r) { return r.packs().size(); }));
       }},
      {"gradients",
       [of] {
         return made(new RecordTable(
             *of, kGradientsColumns, [](const TimelineReader& r) { return r.run().packs.size(); },
             true));
       }},
      {"links",
       [of] {
         return made(new RecordTable(*of, kLinksColumns,
                                     [](const TimelineReader& r) { return r.links().size(); }));
       }},
      {"path",
       [of] {
         return made(new RecordTable(*of, kPathColumns,
                                     [](const TimelineReader& r) { return r.path().size(); }));
       }},
      {"spans", [of, stop] { return made(new SpanTable(*of, kSpansColumns, false, stop)); }},
      {"messages", [of, stop] { return made(new SpanTable(*of, kMessagesColumns, true, stop)); }}};
  for (const auto& [name, make] : tables) {
    if (const int status = add_table(database, name, make); status != SQLITE_OK) return status;
  }
  return SQLITE_OK;
}

}  // namespace tutti::core
