// A SpanTable tells SQLite in best_index() which conditions it can use to omit blocks: an exact
// span_id, a device, and bounds of start_us and end_us. Each bit of the plan number says whether
// one of these conditions is present. SQLite passes the values of the conditions to start(), in the
// order of the bits. SQLite itself checks all conditions again for every row, so a table only has
// to omit blocks that certainly
// have no matching row.
//
// A single call of next() may pass over all blocks of a file, for example over lanes without
// messages, and SQLite calls its progress handler only between such calls. A SpanTable therefore
// also checks before each block whether the query was stopped.

#include "core/query/span_table.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "core/base/units.h"

namespace tutti::core {
namespace {

/// The conditions that a SpanTable uses, as bits of the plan number.
enum Use : int { kId = 1, kDevice = 2, kFromStart = 4, kToStart = 8, kFromEnd = 16 };
constexpr std::array kUses{kId, kDevice, kFromStart, kToStart, kFromEnd};

}  // namespace

std::optional<int> SpanTable::use_of(int column, int op) const {
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

class SpanTable::Rows : public TableCursor {
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

std::unique_ptr<TableCursor> SpanTable::open() const { return std::make_unique<Rows>(*this); }

}  // namespace tutti::core
