// Opens a timeline for drawing. Only data for drawing stays in memory (SpanRow). Other data of a
// span is read from the file when it is requested. The code relies on one invariant: the spans of a
// row are the spans of its blocks, block by block, and the blocks are ordered by their first times.
// Span i is therefore found by counting the spans of blocks, so every later reader must also omit
// the damaged blocks.
//
// Rows are read in parallel. Every thread takes the next unread row. A row belongs to one thread,
// so only the lists of failures and damaged blocks need a lock. A trace that combines two other
// traces has no file, and gets its data from TraceParts (gui/comparison).

#include "gui/trace/trace.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <thread>
#include <tuple>

#include <fmt/format.h>

#include "core/plan/compute_kind.h"
#include "core/scenario/run_info.h"
#include "gui/trace/guarded.h"

namespace tutti::gui {

using core::Error;
using core::Expected;
using core::Span;
using core::Time;
using core::Track;
using core::TrackKind;
using Reader = core::TimelineReader;
using Block = Reader::SpanBlock;

namespace {

/// Returns a key that sorts names naturally: "gpu2" before "gpu10".
std::tuple<std::string, std::size_t, std::string> natural(const std::string& device) {
  const std::size_t digits = device.find_last_not_of("0123456789") + 1;
  const std::string number = device.substr(digits);
  return {device.substr(0, digits), number.size(), number};
}

/// Returns, for each row, the time ranges that lie on the critical path.
std::vector<std::vector<OnPath>> parts_on_path(const std::vector<Side>& sides,
                                               const std::vector<Trace::Row>& rows) {
  // Indexed by side, device, and whether the row has packs in flight: the row.
  std::map<std::tuple<std::size_t, std::string, bool>, std::vector<std::size_t>> rows_of;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    const Track& track = rows[r].track;
    if (track.kind != TrackKind::kLane)
      rows_of[{rows[r].side, fmt::format("w{}/{}", track.worker, track.device),
               track.kind == TrackKind::kPacks}]
          .push_back(r);
  }
  std::vector<std::vector<OnPath>> parts(rows.size());
  for (std::size_t s = 0; s < sides.size(); ++s) {
    for (const core::PathPiece& piece : sides[s].path) {
      const bool in_flight =
          piece.kind == core::SpanKind::kPackInFlight || piece.kind == core::SpanKind::kExchange;
      const auto found = rows_of.find({s, piece.device, in_flight});
      if (found == rows_of.end()) continue;
      for (const std::size_t r : found->second)
        parts[r].push_back({{piece.start, piece.end}, piece.kind, piece.pack});
    }
  }
  for (std::vector<OnPath>& of_row : parts)
    std::sort(of_row.begin(), of_row.end(),
              [](const OnPath& a, const OnPath& b) { return a.at.from < b.at.from; });
  return parts;
}

}  // namespace

std::string name_of_row(const Track& track) {
  const std::string slot = track.slot > 0 ? fmt::format(", slot {}", track.slot) : "";
  switch (track.kind) {
    case TrackKind::kCompute: return "compute";
    case TrackKind::kPacks: return "packs" + slot;
    case TrackKind::kLane: return fmt::format("lane {}{}", track.lane, slot);
  }
  return "";
}

bool is_listed_before(const Track& a, const Track& b) {
  const auto place = [](const Track& t) {
    return std::tuple(t.worker, natural(t.device), t.kind, t.slot, t.lane);
  };
  return place(a) < place(b);
}

Trace::Trace(core::TimelineReader reader)
    : sides_{{"", reader.run(), reader.steps(), reader.packs(), reader.links(), reader.path(),
              reader.steady(), reader.damage()}} {
  reader_.emplace(std::move(reader));
}

Trace::Trace(std::vector<Side> sides, std::vector<Row> rows, std::vector<AxisStretch> axis,
             std::vector<DifferenceRow> differences, std::shared_ptr<const TraceParts> parts)
    : sides_(std::move(sides)),
      rows_(std::move(rows)),
      axis_(std::move(axis)),
      differences_(std::move(differences)),
      parts_(std::move(parts)) {
  measure();
}

Expected<std::shared_ptr<const Trace>> Trace::open(const std::string& path,
                                                   const OpenControl& control) {
  const auto stamp = FileStamp::of(path);
  auto opened = load(Reader::open(path, Reader::Check::kWhenRead), control);
  if (opened) {
    (*opened)->path_ = path;
    (*opened)->stamp_ = stamp;
  }
  return opened;
}

Error Trace::why_not_read(const Error& error) const {
  if (path_.empty() || FileStamp::of(path_) == stamp_) return error;
  return Error::request("the timeline's file has changed since it was opened; reload it (Ctrl+R)");
}

Expected<std::shared_ptr<const Trace>> Trace::from_bytes(const std::string& bytes,
                                                         const std::string& name,
                                                         const OpenControl& control) {
  return load(Reader::from_bytes(bytes, name, Reader::Check::kWhenRead), control);
}

Expected<std::shared_ptr<const Trace>> Trace::from_source(
    std::shared_ptr<const core::ByteSource> source, const std::string& name,
    const OpenControl& control) {
  return load(Reader::from_source(std::move(source), name, Reader::Check::kWhenRead), control);
}

Expected<std::shared_ptr<Trace>> Trace::load(Expected<Reader> reader, const OpenControl& control) {
  if (!reader) return tl::make_unexpected(reader.error());
  std::shared_ptr<Trace> trace(new Trace(std::move(*reader)));
  trace->list_rows();
  if (auto read = trace->read_rows(control); !read) return tl::make_unexpected(read.error());
  const Side& side = trace->sides_.front();
  if (!trace->complete() && trace->reader_->span_blocks().empty() && side.steps.empty() &&
      side.links.empty()) {
    return tl::make_unexpected(Error::request(fmt::format(
        "no drawable block of this timeline ({}) is intact: the file {}",
        side.run.scenario.empty() ? "unknown scenario" : side.run.scenario, side.damage)));
  }
  trace->measure();
  return trace;
}

void Trace::measure() {
  for (const Row& row : rows_) {
    spans_ += row.spans.size();
    if (row.spans.size() > 0) length_ = std::max(length_, row.spans.end(row.spans.size() - 1));
  }
  for (const Side& side : sides_) {
    for (const core::StepRecord& step : side.steps) length_ = std::max(length_, step.end);
    for (const core::PackRecord& pack : side.packs) length_ = std::max(length_, pack.end);
  }
  if (sides_.size() == 1) measure_recorded();
  measure_kinds();
  find_idle_times();
  on_path_ = parts_on_path(sides_, rows_);
}

/// Finds the part of the run whose spans were recorded, if the timeline's notes say that only a
/// part was recorded.
void Trace::measure_recorded() {
  const auto part = core::recorded_part(sides_.front().run.notes, sides_.front().steps);
  if (!part || (part->from == Time() && part->to >= length_)) return;
  recorded_ = TimeRange{std::min(part->from, length_), std::min(part->to, length_)};
}

/// Adds up the times of all rows by kind of span, so that other code need not visit every span.
void Trace::measure_kinds() {
  std::map<int, double> times;
  for (const Row& row : rows_) {
    for (const auto& [kind, time] : row.spans.kind_times())
      times[kind] += static_cast<double>(time.count());
    has_waits_ = has_waits_ || row.spans.has_waits();
  }
  for (const auto& [kind, time] : times) kinds_.push_back(kind);
  std::stable_sort(kinds_.begin(), kinds_.end(), [&](int a, int b) { return times[a] > times[b]; });
}

/// Imported traces have spans for the times in which a GPU waits for its host.
void Trace::find_idle_times() {
  constexpr int kIdle =
      core::SpanKind::kFirstCompute + static_cast<int>(core::ComputeKind::kHostGap);
  for (Row& row : rows_) {
    const auto& kinds = row.spans.kind_times();
    if (std::none_of(kinds.begin(), kinds.end(),
                     [](const auto& kind) { return kind.first == kIdle; }))
      continue;
    auto idle = std::make_shared<SpanRow>();
    for (SpanRow::Index i = 0; i < row.spans.size(); ++i) {
      if (row.spans.kind(i) != kIdle) continue;
      Span span;
      span.start = row.spans.start(i);
      span.duration = row.spans.duration(i);
      span.kind = kIdle;
      idle->add(span);
    }
    idle->finish();
    row.idle = std::move(idle);
  }
}

void Trace::list_rows() {
  std::vector<Track> tracks = reader_->tracks();
  std::stable_sort(tracks.begin(), tracks.end(),
                   [](const Track& a, const Track& b) { return a.id < b.id; });
  std::stable_sort(tracks.begin(), tracks.end(), is_listed_before);
  std::set<core::TrackId> listed;
  for (Track& track : tracks) {
    if (!listed.insert(track.id).second) continue;
    rows_.push_back({track, fmt::format("worker {}", track.worker), name_of_row(track), {}});
  }
  list_blocks();
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    std::size_t spans = 0;
    for (const std::size_t b : blocks_[r])
      spans += static_cast<std::size_t>(reader_->span_blocks()[b].spans);
    rows_[r].spans.reserve(spans);
  }
}

void Trace::list_blocks() {
  for (std::size_t r = 0; r < rows_.size(); ++r) row_of_track_.emplace(rows_[r].track.id, r);
  blocks_.assign(rows_.size(), {});
  const std::vector<Block>& blocks = reader_->span_blocks();
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    const auto row = row_of_track_.find(blocks[b].track);
    if (row != row_of_track_.end()) blocks_[row->second].push_back(b);
  }
  for (std::vector<std::size_t>& of_row : blocks_) {
    std::stable_sort(of_row.begin(), of_row.end(), [&](std::size_t a, std::size_t b) {
      return blocks[a].first_start < blocks[b].first_start;
    });
  }
}

/// Removes damaged blocks from the list of blocks that are read. Later reads of the file then also
/// omit these blocks.
void Trace::leave_out(const std::vector<Block>& damaged) {
  if (damaged.empty()) return;
  reader_->leave_out(damaged);
  sides_.front().damage = reader_->damage();
  list_blocks();
}

/// Reads all rows. Blocks are independent of each other, so several threads read blocks in
/// parallel. Each block is read once.
Expected<void> Trace::read_rows(const OpenControl& control) {
  std::atomic<std::size_t> next{0}, blocks_done{0};
  std::atomic<bool> stop{false};
  std::mutex mutex;
  std::optional<Error> failure;
  std::vector<Block> damaged;
  const auto fail = [&](Error error) {
    const std::lock_guard lock(mutex);
    if (!failure) failure = std::move(error);
    stop = true;
  };
  const double all = static_cast<double>(std::max<std::size_t>(1, reader_->span_blocks().size()));
  const auto work = [&] {
    for (std::size_t r = next++; r < rows_.size(); r = next++) {
      SpanRow& spans = rows_[r].spans;
      for (const std::size_t b : blocks_[r]) {
        if (stop) return;
        if (control.cancel && *control.cancel) return fail(Error::run("opening was stopped"));
        const auto block = reader_->read(reader_->span_blocks()[b]);
        if (!block) {
          const std::lock_guard lock(mutex);
          damaged.push_back(reader_->span_blocks()[b]);
          continue;
        }
        for (const Span& span : *block) {
          std::vector<std::pair<SpanRow::Index, std::int32_t>>& steps = rows_[r].steps;
          if (steps.empty() || steps.back().second != span.step)
            steps.emplace_back(spans.size(), span.step);
          spans.add(span);
        }
        const double done = static_cast<double>(++blocks_done) / all;
        if (control.progress) control.progress(done);
      }
      spans.finish();
    }
  };
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const auto guarded_work = [&] {
    if (const auto thrown = guarded(work)) fail(*thrown);
  };
  {
    std::vector<std::jthread> others;
    for (std::size_t i = 1; i < std::min(cores, rows_.size()); ++i)
      others.emplace_back(guarded_work);
    guarded_work();
  }
  if (failure) return tl::make_unexpected(*failure);
  leave_out(damaged);
  return {};
}

std::optional<std::size_t> Trace::row_of(core::TrackId track) const {
  if (parts_)
    return track >= 0 && static_cast<std::size_t>(track) < rows_.size()
               ? std::optional(static_cast<std::size_t>(track))
               : std::nullopt;
  const auto row = row_of_track_.find(track);
  return row == row_of_track_.end() ? std::nullopt : std::optional(row->second);
}

Expected<std::vector<Span>> Trace::spans(std::size_t row, SpanRow::Index first,
                                         SpanRow::Index end) const {
  if (parts_) return parts_->spans(row, first, end);
  std::vector<Span> found;
  std::size_t before = 0;  // number of the row's spans in earlier blocks
  for (const std::size_t b : blocks_[row]) {
    const Block& block = reader_->span_blocks()[b];
    const std::size_t after = before + static_cast<std::size_t>(block.spans);
    if (after > first && before < end) {
      const auto read = reader_->read(block);
      if (!read) return tl::make_unexpected(why_not_read(read.error()));
      const std::size_t from = std::max<std::size_t>(first, before) - before;
      const std::size_t to =
          std::min<std::size_t>(std::min<std::size_t>(end, after) - before, read->size());
      for (std::size_t i = from; i < to; ++i) found.push_back((*read)[i]);
    }
    before = after;
  }
  if (found.size() == end - first) return found;
  return tl::make_unexpected(
      Error::request("the timeline's file has changed since it was opened; reload it (Ctrl+R)"));
}

Expected<Span> Trace::span(std::size_t row, SpanRow::Index index) const {
  auto found = spans(row, index, index + 1);
  if (!found) return tl::make_unexpected(found.error());
  return found->front();
}

Expected<void> Trace::read_row(std::size_t row,
                               const std::function<void(const Span&)>& each) const {
  for (const std::size_t b : blocks_[row]) {
    const auto spans = reader_->read(reader_->span_blocks()[b]);
    if (!spans) return tl::make_unexpected(why_not_read(spans.error()));
    for (const Span& span : *spans) each(span);
  }
  return {};
}

std::size_t Trace::memory() const {
  std::size_t bytes = 0;
  for (const Row& row : rows_) bytes += row.spans.memory();
  return bytes;
}

}  // namespace tutti::gui
