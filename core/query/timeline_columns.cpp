#include "core/query/timeline_columns.h"

#include <array>
#include <string_view>

#include <fmt/format.h>

#include "core/base/units.h"

namespace tutti::core {
namespace {

void put(sqlite3_context* out, std::int64_t value) { sqlite3_result_int64(out, value); }
void put(sqlite3_context* out, std::int32_t value) { sqlite3_result_int64(out, value); }
void put(sqlite3_context* out, double value) { sqlite3_result_double(out, value); }
void put(sqlite3_context* out, Time value) { sqlite3_result_double(out, to_us(value)); }
void put(sqlite3_context* out, Bytes value) { sqlite3_result_int64(out, value.count()); }
void put(sqlite3_context* out, std::string_view text) {
  sqlite3_result_text64(out, text.data(), text.size(), SQLITE_TRANSIENT, SQLITE_UTF8);
}
/// Puts a number, or NULL if it is negative, which means that there is none.
void put_if_any(sqlite3_context* out, std::int32_t number) {
  if (number >= 0) put(out, number);
}

template <class Row>
constexpr QueryColumn<Row> kTimeline{"timeline", "TEXT",
                                     [](sqlite3_context* o, const Row& r) { put(o, r.name()); }};

using O = sqlite3_context*;
using R = const RecordRow&;
using S = const SpanRow&;

const StepRecord& step_of(R r) { return r.reader().steps()[r.i]; }
const PackRecord& pack_of(R r) { return r.reader().packs()[r.i]; }
const LinkRecord& link_of(R r) { return r.reader().links()[r.i]; }
const PathPiece& piece_of(R r) { return r.reader().path()[r.i]; }

constexpr std::array<const char*, 3> kTrackNames{"compute", "packs", "lane"};

template <class Row>
QueryTable described(const char* name, const char* about,
                     const std::vector<QueryColumn<Row>>& columns) {
  QueryTable table{name, about, {}};
  for (const QueryColumn<Row>& column : columns) table.columns.emplace_back(column.name);
  return table;
}

}  // namespace

const std::vector<QueryColumn<RecordRow>> kStepsColumns{
    kTimeline<RecordRow>,
    {"step", "INTEGER", [](O o, R r) { put(o, step_of(r).step); }},
    {"start_us", "REAL", [](O o, R r) { put(o, step_of(r).start); }},
    {"end_us", "REAL", [](O o, R r) { put(o, step_of(r).end); }},
    {"time_us", "REAL", [](O o, R r) { put(o, step_of(r).end - step_of(r).start); }},
    {"forward_us", "REAL", [](O o, R r) { put(o, step_of(r).forward); }},
    {"backward_us", "REAL", [](O o, R r) { put(o, step_of(r).backward); }},
    {"other_compute_us", "REAL", [](O o, R r) { put(o, step_of(r).other_compute); }},
    {"communication_us", "REAL", [](O o, R r) { put(o, step_of(r).communication); }},
    {"exposed_communication_us", "REAL", [](O o, R r) { put(o, step_of(r).exposed); }},
    {"slowest", "TEXT", [](O o, R r) { put(o, step_of(r).slowest); }}};

const std::vector<QueryColumn<RecordRow>> kPacksColumns{
    kTimeline<RecordRow>,
    {"step", "INTEGER", [](O o, R r) { put(o, pack_of(r).step); }},
    {"pack", "INTEGER", [](O o, R r) { put(o, pack_of(r).pack); }},
    {"bytes", "INTEGER",
     [](O o, R r) {
       if (const auto* const info = r.pack(pack_of(r).pack)) put(o, info->bytes);
     }},
    {"gradients", "INTEGER",
     [](O o, R r) {
       if (const auto* const info = r.pack(pack_of(r).pack))
         put(o, static_cast<std::int64_t>(info->gradients.size()));
     }},
    {"nccl", "TEXT",
     [](O o, R r) {
       const auto* const info = r.pack(pack_of(r).pack);
       if (info && !info->nccl.empty()) put(o, info->nccl);
     }},
    {"ready_us", "REAL", [](O o, R r) { put(o, pack_of(r).ready); }},
    {"first_start_us", "REAL", [](O o, R r) { put(o, pack_of(r).first_start); }},
    {"start_us", "REAL", [](O o, R r) { put(o, pack_of(r).last_start); }},
    {"end_us", "REAL", [](O o, R r) { put(o, pack_of(r).end); }},
    {"time_us", "REAL", [](O o, R r) { put(o, pack_of(r).end - pack_of(r).last_start); }}};

const std::vector<QueryColumn<RecordRow>> kGradientsColumns{
    kTimeline<RecordRow>,
    {"pack", "INTEGER", [](O o, R r) { put(o, static_cast<std::int64_t>(r.i)); }},
    {"gradient", "TEXT", [](O o, R r) { put(o, r.reader().run().packs[r.i].gradients[r.inner]); }}};

const std::vector<QueryColumn<RecordRow>> kLinksColumns{
    kTimeline<RecordRow>,
    {"link", "TEXT", [](O o, R r) { put(o, link_of(r).name); }},
    {"kind", "TEXT", [](O o, R r) { put(o, to_string(link_of(r).kind)); }},
    {"bandwidth_gb_per_s", "REAL", [](O o, R r) { put(o, to_gb_per_s(link_of(r).bandwidth)); }},
    {"bytes", "INTEGER", [](O o, R r) { put(o, link_of(r).bytes); }},
    {"busy_us", "REAL", [](O o, R r) { put(o, link_of(r).busy); }},
    {"busy_share", "REAL", [](O o, R r) {
       const auto& steps = r.reader().steps();
       const std::int64_t length = steps.empty() ? 0 : steps.back().end.count();
       if (length > 0)
         put(o, static_cast<double>(link_of(r).busy.count()) / static_cast<double>(length));
     }}};

const std::vector<QueryColumn<RecordRow>> kPathColumns{
    kTimeline<RecordRow>,
    {"what", "TEXT", [](O o, R r) { put(o, span_name(piece_of(r).kind)); }},
    {"device", "TEXT", [](O o, R r) { put(o, piece_of(r).device); }},
    {"pack", "INTEGER", [](O o, R r) { put_if_any(o, piece_of(r).pack); }},
    {"layer", "TEXT", [](O o, R r) { put(o, piece_of(r).layer); }},
    {"start_us", "REAL", [](O o, R r) { put(o, piece_of(r).start); }},
    {"end_us", "REAL", [](O o, R r) { put(o, piece_of(r).end); }},
    {"time_us", "REAL", [](O o, R r) { put(o, piece_of(r).end - piece_of(r).start); }},
    {"slowest_link", "TEXT", [](O o, R r) { put(o, piece_of(r).slowest_link); }},
    {"queued_at", "TEXT", [](O o, R r) { put(o, piece_of(r).queued_at); }},
    {"queued_us", "REAL", [](O o, R r) { put(o, piece_of(r).queued_time); }}};

const std::vector<QueryColumn<SpanRow>> kSpansColumns{
    kTimeline<SpanRow>,
    {"span_id", "INTEGER", [](O o, S s) { put(o, s.id); }},
    {"device", "TEXT", [](O o, S s) { put(o, s.rows.device); }},
    {"worker", "INTEGER", [](O o, S s) { put(o, s.rows.track.worker); }},
    {"row", "TEXT",
     [](O o, S s) { put(o, kTrackNames[static_cast<std::size_t>(s.rows.track.kind)]); }},
    {"lane", "INTEGER", [](O o, S s) { put_if_any(o, s.rows.track.lane); }},
    {"what", "TEXT", [](O o, S s) { put(o, span_name(s.span.kind)); }},
    {"step", "INTEGER", [](O o, S s) { put(o, s.span.step); }},
    {"pack", "INTEGER", [](O o, S s) { put_if_any(o, s.span.pack); }},
    {"number", "INTEGER", [](O o, S s) { put(o, s.span.index); }},
    {"start_us", "REAL", [](O o, S s) { put(o, s.span.start); }},
    {"end_us", "REAL", [](O o, S s) { put(o, s.end()); }},
    {"duration_us", "REAL", [](O o, S s) { put(o, s.span.duration); }},
    {"wait_us", "REAL", [](O o, S s) { put(o, s.begun() - s.span.start); }},
    {"bytes", "INTEGER", [](O o, S s) { put(o, s.span.bytes); }}};

const std::vector<QueryColumn<SpanRow>> kMessagesColumns{
    kTimeline<SpanRow>,
    {"span_id", "INTEGER", [](O o, S s) { put(o, s.id); }},
    {"sender", "TEXT", [](O o, S s) { put(o, s.sender()->device); }},
    {"receiver", "TEXT", [](O o, S s) { put(o, s.rows.device); }},
    {"sender_lane", "INTEGER", [](O o, S s) { put_if_any(o, s.sender()->track.lane); }},
    {"receiver_lane", "INTEGER", [](O o, S s) { put_if_any(o, s.rows.track.lane); }},
    {"step", "INTEGER", [](O o, S s) { put(o, s.span.step); }},
    {"pack", "INTEGER", [](O o, S s) { put_if_any(o, s.span.pack); }},
    {"start_us", "REAL", [](O o, S s) { put(o, s.begun()); }},
    {"end_us", "REAL", [](O o, S s) { put(o, s.end()); }},
    {"time_us", "REAL", [](O o, S s) { put(o, s.moving()); }},
    {"wait_us", "REAL", [](O o, S s) { put(o, s.begun() - s.span.start); }},
    {"bytes", "INTEGER", [](O o, S s) { put(o, s.span.bytes); }},
    {"gb_per_s", "REAL", [](O o, S s) {
       if (s.moving() > Time())
         put(o, 1000 * static_cast<double>(s.span.bytes.count()) /
                    static_cast<double>(s.moving().count()));
     }}};

const std::vector<QueryTable>& query_tables() {
  static const std::vector<QueryTable> tables{
      described("steps", "The training steps.", kStepsColumns),
      described("packs", "The packs of each training step, with their times over all ranks.",
                kPacksColumns),
      described("gradients", "The gradients in each pack.", kGradientsColumns),
      described("spans",
                "All recorded spans: computation, packs in flight, and schedule steps of lanes.",
                kSpansColumns),
      described("messages", "The messages between lanes, as their receivers recorded them.",
                kMessagesColumns),
      described("links", "The links, with their bytes and busy times in the whole run.",
                kLinksColumns),
      described("path", "The parts of the critical path of the last training step.", kPathColumns)};
  return tables;
}

}  // namespace tutti::core
