// The virtual tables of SQLite that read timelines. Each table is an eponymous virtual table: it
// exists in every database without CREATE VIRTUAL TABLE. There are two kinds:
//
//   RecordTable  steps, packs, gradients, links, path: records that the reader holds in memory
//   SpanTable    spans, messages: blocks of spans, read from the file one at a time
//
// A SpanTable tells SQLite in best_index() which conditions it can use to omit blocks: an exact
// span_id, a device, and bounds of start_us and end_us. It passes their presence as bits of the
// plan number, and SQLite passes their values in the order of the bits to start(). SQLite itself
// checks all conditions again for every row, so a table only has to omit blocks that certainly
// have no matching row.
//
// A single call of next() may pass over all blocks of a file, for example over lanes without
// messages, and SQLite calls its progress handler only between such calls. A SpanTable therefore
// also checks before each block whether the query was stopped.

#include "core/query/timeline_tables.h"

#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <functional>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/units.h"

namespace tutti::core {

QueryCatalog::QueryCatalog(std::vector<QueriedTimeline> queried) : timelines(std::move(queried)) {
  by_track_.resize(timelines.size());
  for (std::size_t t = 0; t < timelines.size(); ++t) {
    const TimelineReader& reader = *timelines[t].reader;
    std::map<TrackId, std::vector<TimelineReader::SpanBlock>> blocks;
    for (const auto& block : reader.span_blocks()) blocks[block.track].push_back(block);
    for (const Track& track : reader.tracks()) {
      if (!by_track_[t].emplace(track.id, rows.size()).second) continue;
      std::vector<TimelineReader::SpanBlock>& own = blocks[track.id];
      std::stable_sort(own.begin(), own.end(),
                       [](const auto& a, const auto& b) { return a.first_start < b.first_start; });
      const std::size_t first = pieces.size();
      const std::int64_t first_id = spans;
      for (const auto& block : own) {
        pieces.push_back({rows.size(), block, spans});
        spans += block.spans;
      }
      rows.push_back({t, track, fmt::format("w{}/{}", track.worker, track.device), first,
                      pieces.size(), first_id});
    }
  }
}

const QueryCatalog::Rows* QueryCatalog::find(std::size_t timeline, TrackId track) const {
  const auto found = by_track_[timeline].find(track);
  return found == by_track_[timeline].end() ? nullptr : &rows[found->second];
}

namespace {

/// A column: its name and type in SQL, and the expression that computes it from a row.
template <class Row>
struct Column {
  const char* name;
  const char* type;
  void (*put)(sqlite3_context* out, const Row& row);
};

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

// --- rows of the tables ---

/// The context of every row: a timeline.
struct Of {
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
struct RecordRow : Of {
  std::size_t i;          ///< the index of the record
  std::size_t inner = 0;  ///< the index of the gradient in the pack
};

/// A span. A message is a span that records from where it received.
struct SpanRow : Of {
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

template <class Row>
constexpr Column<Row> kTimeline{"timeline", "TEXT",
                                [](sqlite3_context* o, const Row& r) { put(o, r.name()); }};

using O = sqlite3_context*;
using R = const RecordRow&;
using S = const SpanRow&;

const StepRecord& step_of(R r) { return r.reader().steps()[r.i]; }
const PackRecord& pack_of(R r) { return r.reader().packs()[r.i]; }
const LinkRecord& link_of(R r) { return r.reader().links()[r.i]; }
const PathPiece& piece_of(R r) { return r.reader().path()[r.i]; }

const std::vector<Column<RecordRow>> kSteps{
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

const std::vector<Column<RecordRow>> kPacks{
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

const std::vector<Column<RecordRow>> kGradients{
    kTimeline<RecordRow>,
    {"pack", "INTEGER", [](O o, R r) { put(o, static_cast<std::int64_t>(r.i)); }},
    {"gradient", "TEXT", [](O o, R r) { put(o, r.reader().run().packs[r.i].gradients[r.inner]); }}};

const std::vector<Column<RecordRow>> kLinks{
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

const std::vector<Column<RecordRow>> kPath{
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

constexpr std::array<const char*, 3> kTrackNames{"compute", "packs", "lane"};

const std::vector<Column<SpanRow>> kSpans{
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

const std::vector<Column<SpanRow>> kMessages{
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

template <class Row>
std::string declaration(const std::vector<Column<Row>>& columns) {
  std::string text;
  for (const Column<Row>& column : columns)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", column.name, column.type);
  return "CREATE TABLE x(" + text + ")";
}
template <class Row>
QueryTable described(const char* name, const char* about, const std::vector<Column<Row>>& columns) {
  QueryTable table{name, about, {}};
  for (const Column<Row>& column : columns) table.columns.emplace_back(column.name);
  return table;
}

// --- SQLite's interface ---

class Cursor : public sqlite3_vtab_cursor {
 public:
  Cursor() : sqlite3_vtab_cursor() {}
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  virtual ~Cursor() = default;
  /// Goes to the first row. `plan`: what best_index() chose.
  virtual Expected<void> start(int plan, sqlite3_value** values) = 0;
  virtual Expected<void> next() = 0;
  [[nodiscard]] virtual bool at_end() const = 0;
  virtual void put_column(sqlite3_context* out, int column) const = 0;
  [[nodiscard]] virtual std::int64_t row_number() const = 0;
};

class Table : public sqlite3_vtab {
 public:
  Table() : sqlite3_vtab() {}
  Table(const Table&) = delete;
  Table& operator=(const Table&) = delete;
  virtual ~Table() = default;
  [[nodiscard]] virtual std::string columns() const = 0;
  virtual void best_index(sqlite3_index_info& info) const = 0;
  [[nodiscard]] virtual std::unique_ptr<Cursor> open() const = 0;
};

class RecordTable : public Table {
 public:
  using Count = std::size_t (*)(const TimelineReader&);
  RecordTable(const QueryCatalog& catalog, const std::vector<Column<RecordRow>>& columns,
              Count count, bool gradients = false)
      : catalog_(catalog), columns_(columns), count_(count), gradients_(gradients) {}

  [[nodiscard]] std::string columns() const override { return declaration(columns_); }
  void best_index(sqlite3_index_info& info) const override {
    info.estimatedCost = 1000;
    info.estimatedRows = 1000;
  }
  [[nodiscard]] std::unique_ptr<Cursor> open() const override;

 private:
  class Rows;
  const QueryCatalog& catalog_;
  const std::vector<Column<RecordRow>>& columns_;
  Count count_;
  bool gradients_;  ///< true: a record is a pack, with a row for each of its gradients
};

class RecordTable::Rows : public Cursor {
 public:
  explicit Rows(const RecordTable& table) : table_(table) {}
  Expected<void> start(int, sqlite3_value**) override {
    timeline_ = i_ = inner_ = 0;
    row_ = 0;
    skip_empty();
    return {};
  }
  Expected<void> next() override {
    ++row_;
    table_.gradients_ ? ++inner_ : ++i_;
    skip_empty();
    return {};
  }
  [[nodiscard]] bool at_end() const override {
    return timeline_ >= table_.catalog_.timelines.size();
  }
  void put_column(sqlite3_context* out, int column) const override {
    table_.columns_[column].put(out, RecordRow{{table_.catalog_, timeline_}, i_, inner_});
  }
  [[nodiscard]] std::int64_t row_number() const override { return row_; }

 private:
  void skip_empty() {
    for (; !at_end(); ++timeline_, i_ = inner_ = 0) {
      const TimelineReader& reader = *table_.catalog_.timelines[timeline_].reader;
      for (; i_ < table_.count_(reader); ++i_, inner_ = 0) {
        if (!table_.gradients_ || inner_ < reader.run().packs[i_].gradients.size()) return;
      }
    }
  }

  const RecordTable& table_;
  std::size_t timeline_ = 0, i_ = 0, inner_ = 0;
  std::int64_t row_ = 0;
};

std::unique_ptr<Cursor> RecordTable::open() const { return std::make_unique<Rows>(*this); }

/// The conditions that a SpanTable uses, as bits of the plan number.
enum Use : int { kId = 1, kDevice = 2, kFromStart = 4, kToStart = 8, kFromEnd = 16 };
constexpr std::array kUses{kId, kDevice, kFromStart, kToStart, kFromEnd};

class SpanTable : public Table {
 public:
  SpanTable(const QueryCatalog& catalog, const std::vector<Column<SpanRow>>& columns, bool messages,
            const std::atomic<bool>* stop)
      : catalog_(catalog), columns_(columns), messages_(messages), stop_(stop) {}

  [[nodiscard]] std::string columns() const override { return declaration(columns_); }
  void best_index(sqlite3_index_info& info) const override;
  [[nodiscard]] std::unique_ptr<Cursor> open() const override;

 private:
  class Rows;
  /// Returns what a condition is used for; nullopt if it does not help.
  [[nodiscard]] std::optional<Use> use_of(int column, int op) const;

  const QueryCatalog& catalog_;
  const std::vector<Column<SpanRow>>& columns_;
  bool messages_;
  const std::atomic<bool>* stop_;
};

std::optional<Use> SpanTable::use_of(int column, int op) const {
  if (column < 0) return std::nullopt;
  const std::string_view name = columns_[column].name;
  const bool equal = op == SQLITE_INDEX_CONSTRAINT_EQ;
  const bool from = op == SQLITE_INDEX_CONSTRAINT_GE || op == SQLITE_INDEX_CONSTRAINT_GT;
  const bool to = op == SQLITE_INDEX_CONSTRAINT_LE || op == SQLITE_INDEX_CONSTRAINT_LT;
  if (name == "span_id" && equal) return kId;
  if ((name == "device" || name == "receiver") && equal) return kDevice;
  if (name == "start_us" && from) return kFromStart;
  if (name == "start_us" && to) return kToStart;
  if (name == "end_us" && from) return kFromEnd;
  return std::nullopt;
}

void SpanTable::best_index(sqlite3_index_info& info) const {
  std::array<int, kUses.size()> chosen{};
  chosen.fill(-1);
  for (int c = 0; c < info.nConstraint; ++c) {
    if (!info.aConstraint[c].usable) continue;
    const auto use = use_of(info.aConstraint[c].iColumn, info.aConstraint[c].op);
    if (!use) continue;
    // Only the default collation compares devices byte by byte.
    if (*use == kDevice && std::string_view(sqlite3_vtab_collation(&info, c)) != "BINARY") continue;
    chosen[std::find(kUses.begin(), kUses.end(), *use) - kUses.begin()] = c;
  }
  double visited = static_cast<double>(catalog_.spans);
  int arguments = 0;
  for (std::size_t u = 0; u < kUses.size(); ++u) {
    if (chosen[u] < 0) continue;
    info.idxNum |= kUses[u];
    info.aConstraintUsage[chosen[u]].argvIndex = ++arguments;
    visited /= 4;
  }
  if (info.idxNum & kId) visited = 1;
  info.estimatedCost = visited + 10;
  info.estimatedRows = static_cast<sqlite3_int64>(visited) + 1;
}

class SpanTable::Rows : public Cursor {
 public:
  explicit Rows(const SpanTable& table) : table_(table), catalog_(table.catalog_) {}

  Expected<void> start(int plan, sqlite3_value** values) override {
    bounds_ = {};
    for (const Use use : kUses) {
      if (plan & use) take(use, *values++);
    }
    piece_ = 0;
    i_ = 0;
    if (bounds_.id) return go_to(*bounds_.id);
    return find_row();
  }
  Expected<void> next() override {
    ++i_;
    if (bounds_.id) piece_ = catalog_.pieces.size();
    return find_row();
  }
  [[nodiscard]] bool at_end() const override { return piece_ >= catalog_.pieces.size(); }
  void put_column(sqlite3_context* out, int column) const override {
    table_.columns_[column].put(out, here());
  }
  [[nodiscard]] std::int64_t row_number() const override {
    return catalog_.pieces[piece_].first_id + static_cast<std::int64_t>(i_);
  }

 private:
  struct Bounds {
    std::optional<std::int64_t> id;
    std::optional<std::string> device;
    std::optional<double> from_start, to_start, from_end;
  };

  /// Stores a condition's value. A value of another type restricts nothing; SQLite compares it.
  void take(Use use, sqlite3_value* value) {
    if (use == kDevice) {
      if (sqlite3_value_type(value) != SQLITE_TEXT) return;
      bounds_.device = std::string(reinterpret_cast<const char*>(sqlite3_value_text(value)),
                                   static_cast<std::size_t>(sqlite3_value_bytes(value)));
      return;
    }
    const int type = sqlite3_value_numeric_type(value);
    if (type != SQLITE_INTEGER && type != SQLITE_FLOAT) {
      // Nothing is equal to NULL or to a text.
      if (use == kId) bounds_.id = -1;
      return;
    }
    if (use == kId) bounds_.id = sqlite3_value_int64(value);
    if (use == kFromStart) bounds_.from_start = sqlite3_value_double(value);
    if (use == kToStart) bounds_.to_start = sqlite3_value_double(value);
    if (use == kFromEnd) bounds_.from_end = sqlite3_value_double(value);
  }

  [[nodiscard]] bool may_match(const QueryCatalog::Piece& piece) const {
    const QueryCatalog::Rows& rows = catalog_.rows[piece.rows];
    if (table_.messages_ && rows.track.kind != TrackKind::kLane) return false;
    if (bounds_.device && rows.device != *bounds_.device) return false;
    if (bounds_.from_start && to_us(piece.block.last_end) < *bounds_.from_start) return false;
    if (bounds_.from_end && to_us(piece.block.last_end) < *bounds_.from_end) return false;
    return !bounds_.to_start || to_us(piece.block.first_start) <= *bounds_.to_start;
  }

  /// Goes to the first row from here on.
  Expected<void> find_row() {
    for (; !at_end(); ++piece_, i_ = 0) {
      if (table_.stop_ && *table_.stop_)
        return tl::make_unexpected(Error::run({ProblemCode::kStopped}, "the query was stopped"));
      if (!may_match(catalog_.pieces[piece_])) continue;
      if (const auto read = read_piece(); !read) return read;
      for (; i_ < spans_.size(); ++i_) {
        if (!table_.messages_ || here().sender()) return {};
      }
    }
    return {};
  }

  Expected<void> go_to(std::int64_t id) {
    const auto after = std::upper_bound(
        catalog_.pieces.begin(), catalog_.pieces.end(), id,
        [](std::int64_t wanted, const QueryCatalog::Piece& p) { return wanted < p.first_id; });
    piece_ = after == catalog_.pieces.begin() || id < 0
                 ? catalog_.pieces.size()
                 : static_cast<std::size_t>(after - catalog_.pieces.begin()) - 1;
    if (at_end()) return {};
    if (const auto read = read_piece(); !read) return read;
    i_ = static_cast<std::size_t>(id - catalog_.pieces[piece_].first_id);
    const bool exists = i_ < spans_.size() && (!table_.messages_ || here().sender());
    if (!exists) piece_ = catalog_.pieces.size();
    return {};
  }

  /// Reads the block, unless it was the last block read.
  Expected<void> read_piece() {
    if (in_memory_ == piece_) return {};
    const QueryCatalog::Piece& piece = catalog_.pieces[piece_];
    const std::size_t timeline = catalog_.rows[piece.rows].timeline;
    auto spans = catalog_.timelines[timeline].reader->read(piece.block);
    if (!spans) return tl::make_unexpected(spans.error());
    spans_ = std::move(*spans);
    in_memory_ = piece_;
    return {};
  }

  [[nodiscard]] SpanRow here() const {
    const QueryCatalog::Rows& rows = catalog_.rows[catalog_.pieces[piece_].rows];
    return {{catalog_, rows.timeline}, rows, spans_[i_], row_number()};
  }

  const SpanTable& table_;
  const QueryCatalog& catalog_;
  Bounds bounds_;
  std::size_t piece_ = 0;
  std::size_t i_ = 0;  ///< the index of the row in the block
  std::optional<std::size_t> in_memory_;
  std::vector<Span> spans_;
};

std::unique_ptr<Cursor> SpanTable::open() const { return std::make_unique<Rows>(*this); }

/// Calls `what`, and returns its error as an SQLite status: SQLITE_INTERRUPT if the query was
/// stopped, or else SQLITE_IOERR, because only reading a block can fail. C code cannot pass
/// exceptions on.
template <class What>
int guarded(sqlite3_vtab* table, What what) {
  try {
    const Expected<void> done = what();
    if (done) return SQLITE_OK;
    sqlite3_free(table->zErrMsg);
    table->zErrMsg = sqlite3_mprintf("%s", done.error().message().c_str());
    return done.error().problems().front().kind.code == ProblemCode::kStopped ? SQLITE_INTERRUPT
                                                                              : SQLITE_IOERR;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}

/// Creates the table that a module stands for.
using MakeTable = std::function<std::unique_ptr<Table>()>;

int connect(sqlite3* database, void* make, int, const char* const*, sqlite3_vtab** made,
            char** error) {
  try {
    std::unique_ptr<Table> table = (*static_cast<const MakeTable*>(make))();
    const int status = sqlite3_declare_vtab(database, table->columns().c_str());
    if (status == SQLITE_OK)
      *made = table.release();
    else
      *error = sqlite3_mprintf("%s", sqlite3_errmsg(database));
    return status;
  } catch (const std::bad_alloc&) {
    return SQLITE_NOMEM;
  }
}
int disconnect(sqlite3_vtab* table) {
  delete static_cast<Table*>(table);
  return SQLITE_OK;
}
int best_index(sqlite3_vtab* table, sqlite3_index_info* info) {
  static_cast<Table*>(table)->best_index(*info);
  return SQLITE_OK;
}
int open_cursor(sqlite3_vtab* table, sqlite3_vtab_cursor** opened) {
  return guarded(table, [&]() -> Expected<void> {
    *opened = static_cast<Table*>(table)->open().release();
    return {};
  });
}
int close_cursor(sqlite3_vtab_cursor* cursor) {
  delete static_cast<Cursor*>(cursor);
  return SQLITE_OK;
}
int start(sqlite3_vtab_cursor* cursor, int plan, const char*, int, sqlite3_value** values) {
  return guarded(cursor->pVtab, [&] { return static_cast<Cursor*>(cursor)->start(plan, values); });
}
int next(sqlite3_vtab_cursor* cursor) {
  return guarded(cursor->pVtab, [&] { return static_cast<Cursor*>(cursor)->next(); });
}
int at_end(sqlite3_vtab_cursor* cursor) { return static_cast<Cursor*>(cursor)->at_end() ? 1 : 0; }
int column(sqlite3_vtab_cursor* cursor, sqlite3_context* out, int number) {
  return guarded(cursor->pVtab, [&]() -> Expected<void> {
    static_cast<Cursor*>(cursor)->put_column(out, number);
    return {};
  });
}
int row_number(sqlite3_vtab_cursor* cursor, sqlite3_int64* number) {
  *number = static_cast<Cursor*>(cursor)->row_number();
  return SQLITE_OK;
}

/// A module without xCreate is eponymous.
sqlite3_module module() {
  sqlite3_module calls{};
  calls.xConnect = connect;
  calls.xBestIndex = best_index;
  calls.xDisconnect = disconnect;
  calls.xOpen = open_cursor;
  calls.xClose = close_cursor;
  calls.xFilter = start;
  calls.xNext = next;
  calls.xEof = at_end;
  calls.xColumn = column;
  calls.xRowid = row_number;
  return calls;
}

template <class T>
std::unique_ptr<Table> made(T* table) {
  return std::unique_ptr<Table>(table);
}

}  // namespace

const std::vector<QueryTable>& query_tables() {
  static const std::vector<QueryTable> tables{
      described("steps", "The training steps.", kSteps),
      described("packs", "The packs of each training step, with their times over all ranks.",
                kPacks),
      described("gradients", "The gradients in each pack.", kGradients),
      described("spans", "All recorded spans: computation, packs in flight, and lane steps.",
                kSpans),
      described("messages", "The messages between lanes, as their receivers recorded them.",
                kMessages),
      described("links", "The links, with their bytes and busy times in the whole run.", kLinks),
      described("path", "The parts of the critical path of the last training step.", kPath)};
  return tables;
}

int add_tables(sqlite3* database, const QueryCatalog& catalog, const std::atomic<bool>* stop) {
  static const sqlite3_module calls = module();
  const QueryCatalog* const of = &catalog;
  const std::vector<std::pair<const char*, MakeTable>> tables{
      {"steps",
       [of] {
         return made(new RecordTable(*of, kSteps,
                                     [](const TimelineReader& r) { return r.steps().size(); }));
       }},
      {"packs",
       [of] {
         return made(new RecordTable(*of, kPacks,
                                     [](const TimelineReader& r) { return r.packs().size(); }));
       }},
      {"gradients",
       [of] {
         return made(new RecordTable(
             *of, kGradients, [](const TimelineReader& r) { return r.run().packs.size(); }, true));
       }},
      {"links",
       [of] {
         return made(new RecordTable(*of, kLinks,
                                     [](const TimelineReader& r) { return r.links().size(); }));
       }},
      {"path",
       [of] {
         return made(
             new RecordTable(*of, kPath, [](const TimelineReader& r) { return r.path().size(); }));
       }},
      {"spans", [of, stop] { return made(new SpanTable(*of, kSpans, false, stop)); }},
      {"messages", [of, stop] { return made(new SpanTable(*of, kMessages, true, stop)); }}};
  for (const auto& [name, make] : tables) {
    const int status =
        sqlite3_create_module_v2(database, name, &calls, new MakeTable(make),
                                 [](void* used) { delete static_cast<MakeTable*>(used); });
    if (status != SQLITE_OK) return status;
  }
  return SQLITE_OK;
}

}  // namespace tutti::core
