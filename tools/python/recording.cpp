// This file makes columns for NumPy and Arrow from a timeline. The table of spans is by far the
// largest. Spans are therefore collected column by column, and the columns are moved into the table
// without a copy. Tables other than that of spans are made on request. Categorical columns need
// dense indices and distinct names. Track numbers are arbitrary. The numbers of span kinds have
// gaps, and several kinds have the same name. The function end() therefore renumbers tracks, and
// add_name() makes names distinct. The function messages() finds the sender of each received
// message in one hash table by track, step, pack and index. Comparisons, pictures and exports use
// the functions for timeline files: reader() writes the timeline to memory in the format of a file.

#include "tools/python/recording.h"

#include <map>
#include <set>
#include <sstream>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "core/cluster/machine.h"
#include "core/plan/compute_kind.h"
#include "core/timeline/writer.h"

namespace tutti::python {
namespace {

using core::Span;
using core::Time;
using core::Track;
using core::TrackKind;

/// Adds a name to a categorical column, whose names must differ. If a name is empty or already
/// taken, `number` is appended.
void add_name(std::vector<std::string>& names, std::set<std::string>& taken, std::string name,
              std::size_t number) {
  if (name.empty() || taken.contains(name))
    name = name.empty() ? fmt::format("kind {}", number) : fmt::format("{} ({})", name, number);
  taken.insert(name);
  names.push_back(std::move(name));
}

/// Returns the names of the kinds of spans. The numbers of kinds have gaps, so the column stores
/// indices into this list of names. Kinds of computation have their usual names; an update on a
/// lane is called "update (11)".
std::vector<std::string> kind_names() {
  std::set<std::string> taken{core::span_name(core::SpanKind::kFirstCompute +
                                              static_cast<int>(core::ComputeKind::kUpdate))};
  std::vector<std::string> names;
  for (std::int32_t kind = 0; kind <= core::SpanKind::kExchange; ++kind) {
    if (kind == core::SpanKind::kFirstCompute) taken.clear();
    add_name(names, taken, core::span_name(kind), static_cast<std::size_t>(kind));
  }
  return names;
}

const char* name_of(TrackKind kind) {
  switch (kind) {
    case TrackKind::kCompute: return "compute";
    case TrackKind::kPacks: return "packs";
    case TrackKind::kLane: return "lane";
  }
  return "";
}

/// Returns a name such as "w1/gpu4 compute", "w0/gpu0 packs 1" or "w0/gpu0 lane 3".
std::string track_name(const Track& track) {
  std::string name = fmt::format("w{}/{} {}", track.worker, track.device, name_of(track.kind));
  if (track.kind == TrackKind::kLane) name += fmt::format(" {}", track.lane);
  if (track.slot > 0) name += fmt::format(" slot {}", track.slot);
  return name;
}

/// Builds a table from rows, column by column.
class Rows {
 public:
  explicit Rows(std::size_t rows) : rows_(rows) {}

  template <class Items, class Value>
  Rows& numbers(const char* name, const Items& items, Value value) {
    std::vector<std::int64_t> column;
    column.reserve(rows_);
    for (const auto& item : items) column.push_back(static_cast<std::int64_t>(value(item)));
    columns_.push_back({name, std::move(column)});
    return *this;
  }
  template <class Items>
  Rows& times(const char* name, const Items& items, Time std::decay_t<Items>::value_type::*time) {
    return numbers(name, items, [&](const auto& item) { return (item.*time).count(); });
  }
  template <class Items, class Value>
  Rows& reals(const char* name, const Items& items, Value value) {
    std::vector<double> column;
    column.reserve(rows_);
    for (const auto& item : items) column.push_back(value(item));
    columns_.push_back({name, std::move(column)});
    return *this;
  }
  template <class Items, class Value>
  Rows& texts(const char* name, const Items& items, Value value) {
    Texts column;
    for (const auto& item : items) column.add(value(item));
    columns_.push_back({name, std::move(column)});
    return *this;
  }
  Table table() { return Table(std::move(columns_)); }

 private:
  std::size_t rows_;
  std::vector<Column> columns_;
};

/// Identifies a schedule step of a lane. A step that receives a message identifies the sending step
/// by this key.
struct LaneStep {
  std::int32_t track, step, pack;
  std::int64_t index;
  bool operator==(const LaneStep&) const = default;
};
struct HashLaneStep {
  std::size_t operator()(const LaneStep& s) const {
    std::uint64_t hash = 0;
    for (const std::int64_t part :
         {std::int64_t{s.track}, std::int64_t{s.step}, std::int64_t{s.pack}, s.index})
      hash = (hash ^ static_cast<std::uint64_t>(part)) * 0x9e3779b97f4a7c15U + (hash >> 29);
    return hash;
  }
};

template <class T>
const std::vector<T>& column_of(const Table& table, const char* name) {
  return std::get<std::vector<T>>(table.find(name)->values);
}

}  // namespace

void Recording::track(const Track& track) {
  // A run or a file numbers its tracks from 0 in the order of these calls, so the index in tracks_
  // is the track's number.
  tracks_.push_back(track);
}

void Recording::span(core::TrackId track, const Span& span) {
  track_.push_back(track);
  start_.push_back(span.start.count());
  duration_.push_back(span.duration.count());
  wait_.push_back(span.wait.count());
  kind_.push_back(span.kind);
  step_.push_back(span.step);
  pack_.push_back(span.pack);
  index_.push_back(span.index);
  bytes_.push_back(span.bytes.count());
  peer_.push_back(span.peer);
  peer_index_.push_back(span.peer_index);
}

void Recording::end() {
  // Merged and imported timelines may number tracks differently, so store the index of the track's
  // name instead of the track's number.
  std::map<core::TrackId, std::int32_t> index;
  std::vector<std::string> names;
  std::set<std::string> taken;
  bool in_order = true;
  for (const Track& track : tracks_) {
    in_order = in_order && track.id == static_cast<std::int32_t>(names.size());
    index[track.id] = static_cast<std::int32_t>(names.size());
    add_name(names, taken, track_name(track), names.size());
  }
  if (!in_order) {
    for (std::int32_t& track : track_) track = index[track];
    for (std::int32_t& peer : peer_) {
      const auto found = index.find(peer);
      peer = found == index.end() ? core::kNoTrack : found->second;
    }
    for (std::size_t t = 0; t < tracks_.size(); ++t) tracks_[t].id = static_cast<core::TrackId>(t);
  }
  std::vector<Column> columns;
  columns.push_back({"track", std::move(track_), std::move(names)});
  columns.push_back({"kind", std::move(kind_), kind_names()});
  columns.push_back({"step", std::move(step_)});
  columns.push_back({"pack", std::move(pack_)});
  columns.push_back({"index", std::move(index_)});
  columns.push_back({"start_ps", std::move(start_)});
  columns.push_back({"duration_ps", std::move(duration_)});
  columns.push_back({"wait_ps", std::move(wait_)});
  columns.push_back({"bytes", std::move(bytes_)});
  columns.push_back({"peer_track", std::move(peer_)});
  columns.push_back({"peer_index", std::move(peer_index_)});
  spans_ = std::make_shared<const Table>(std::move(columns));
}

Table Recording::tracks() const {
  return Rows(tracks_.size())
      .texts("track", tracks_, track_name)
      .texts("kind", tracks_, [](const Track& t) { return std::string_view(name_of(t.kind)); })
      .numbers("worker", tracks_, [](const Track& t) { return t.worker; })
      .texts("device", tracks_, [](const Track& t) { return std::string_view(t.device); })
      .numbers("slot", tracks_, [](const Track& t) { return t.slot; })
      .numbers("lane", tracks_, [](const Track& t) { return t.lane; })
      .table();
}

Table Recording::steps() const {
  using Step = core::StepRecord;
  return Rows(steps_.size())
      .numbers("step", steps_, [](const Step& s) { return s.step; })
      .times("start_ps", steps_, &Step::start)
      .times("end_ps", steps_, &Step::end)
      .times("forward_ps", steps_, &Step::forward)
      .times("backward_ps", steps_, &Step::backward)
      .times("other_compute_ps", steps_, &Step::other_compute)
      .times("communication_ps", steps_, &Step::communication)
      .times("exposed_ps", steps_, &Step::exposed)
      .times("slowed_ps", steps_, &Step::slowed)
      .texts("slowest", steps_, [](const Step& s) { return std::string_view(s.slowest); })
      .texts("awaited", steps_, [](const Step& s) { return std::string_view(s.awaited); })
      .table();
}

Table Recording::packs() const {
  using Pack = core::PackRecord;
  static const core::RunInfo::PackInfo kUnknown{};
  const auto info = [this](const Pack& pack) -> const core::RunInfo::PackInfo& {
    const std::size_t number = pack.pack;
    return number < run_.packs.size() ? run_.packs[number] : kUnknown;
  };
  return Rows(packs_.size())
      .numbers("step", packs_, [](const Pack& p) { return p.step; })
      .numbers("pack", packs_, [](const Pack& p) { return p.pack; })
      .numbers("bytes", packs_, [&](const Pack& p) { return info(p).bytes.count(); })
      .numbers("gradients", packs_, [&](const Pack& p) { return info(p).gradients.size(); })
      .times("ready_ps", packs_, &Pack::ready)
      .times("first_start_ps", packs_, &Pack::first_start)
      .times("last_start_ps", packs_, &Pack::last_start)
      .times("end_ps", packs_, &Pack::end)
      .texts("type", packs_, [&](const Pack& p) { return std::string_view(info(p).type); })
      .texts("nccl", packs_, [&](const Pack& p) { return std::string_view(info(p).nccl); })
      .table();
}

Table Recording::links() const {
  using Link = core::LinkRecord;
  const double length = steps_.empty() ? 0 : static_cast<double>(steps_.back().end.count());
  return Rows(links_.size())
      .texts("link", links_, [](const Link& l) { return std::string_view(l.name); })
      .texts("kind", links_, [](const Link& l) { return to_string(l.kind); })
      .reals("bandwidth_gb_per_s", links_,
             [](const Link& l) { return core::to_gb_per_s(l.bandwidth); })
      .numbers("bytes", links_, [](const Link& l) { return l.bytes.count(); })
      .times("busy_ps", links_, &Link::busy)
      .reals("busy_share", links_,
             [&](const Link& l) {
               return length > 0 ? static_cast<double>(l.busy.count()) / length : 0;
             })
      .table();
}

Table Recording::path() const {
  using Piece = core::PathPiece;
  return Rows(path_.size())
      .texts("kind", path_, [](const Piece& p) { return core::span_name(p.kind); })
      .texts("device", path_, [](const Piece& p) { return std::string_view(p.device); })
      .numbers("pack", path_, [](const Piece& p) { return p.pack; })
      .texts("layer", path_, [](const Piece& p) { return std::string_view(p.layer); })
      .times("start_ps", path_, &Piece::start)
      .times("end_ps", path_, &Piece::end)
      .texts("slowest_link", path_, [](const Piece& p) { return std::string_view(p.slowest_link); })
      .table();
}

Table Recording::messages() const {
  const auto& track = column_of<std::int32_t>(*spans_, "track");
  const auto& step = column_of<std::int32_t>(*spans_, "step");
  const auto& pack = column_of<std::int32_t>(*spans_, "pack");
  const auto& peer = column_of<std::int32_t>(*spans_, "peer_track");
  const auto& index = column_of<std::int64_t>(*spans_, "index");
  const auto& peer_index = column_of<std::int64_t>(*spans_, "peer_index");
  const auto& start = column_of<std::int64_t>(*spans_, "start_ps");
  const auto& duration = column_of<std::int64_t>(*spans_, "duration_ps");
  const auto& bytes = column_of<std::int64_t>(*spans_, "bytes");

  std::unordered_map<LaneStep, std::int64_t, HashLaneStep> began;
  std::size_t messages = 0;
  for (std::size_t s = 0; s < peer.size(); ++s) messages += peer[s] >= 0;
  if (messages > 0) {
    began.reserve(peer.size());
    for (std::size_t s = 0; s < track.size(); ++s)
      began.try_emplace({track[s], step[s], pack[s], index[s]}, start[s]);
  }
  std::vector<std::int32_t> from, to, in_step, of_pack;
  std::vector<std::int64_t> size, sent, received;
  for (std::size_t s = 0; s < peer.size(); ++s) {
    if (peer[s] < 0) continue;
    const auto sender = began.find({peer[s], step[s], pack[s], peer_index[s]});
    from.push_back(peer[s]);
    to.push_back(track[s]);
    in_step.push_back(step[s]);
    of_pack.push_back(pack[s]);
    size.push_back(bytes[s]);
    sent.push_back(sender == began.end() ? -1 : sender->second);
    received.push_back(start[s] + duration[s]);
  }
  const std::vector<std::string>& names = spans_->find("track")->categories;
  std::vector<Column> columns;
  columns.push_back({"from", std::move(from), names});
  columns.push_back({"to", std::move(to), names});
  columns.push_back({"step", std::move(in_step)});
  columns.push_back({"pack", std::move(of_pack)});
  columns.push_back({"bytes", std::move(size)});
  columns.push_back({"sent_ps", std::move(sent)});
  columns.push_back({"received_ps", std::move(received)});
  return Table(std::move(columns));
}

void Recording::replay(core::TimelineSink& sink) const {
  sink.begin(run_);
  for (const Track& track : tracks_) sink.track(track);
  const auto& track = column_of<std::int32_t>(*spans_, "track");
  const auto& kind = column_of<std::int32_t>(*spans_, "kind");
  const auto& step = column_of<std::int32_t>(*spans_, "step");
  const auto& pack = column_of<std::int32_t>(*spans_, "pack");
  const auto& index = column_of<std::int64_t>(*spans_, "index");
  const auto& start = column_of<std::int64_t>(*spans_, "start_ps");
  const auto& duration = column_of<std::int64_t>(*spans_, "duration_ps");
  const auto& wait = column_of<std::int64_t>(*spans_, "wait_ps");
  const auto& bytes = column_of<std::int64_t>(*spans_, "bytes");
  const auto& peer = column_of<std::int32_t>(*spans_, "peer_track");
  const auto& peer_index = column_of<std::int64_t>(*spans_, "peer_index");
  for (std::size_t s = 0; s < track.size(); ++s) {
    Span span;
    span.start = Time(start[s]);
    span.duration = Time(duration[s]);
    span.wait = Time(wait[s]);
    span.kind = kind[s];
    span.step = step[s];
    span.pack = pack[s];
    span.index = index[s];
    span.bytes = core::Bytes(bytes[s]);
    span.peer = peer[s];
    span.peer_index = peer_index[s];
    sink.span(track[s], span);
  }
  end_replay(sink);
}

void Recording::replay_records(core::TimelineSink& sink) const {
  sink.begin(run_);
  end_replay(sink);
}

void Recording::end_replay(core::TimelineSink& sink) const {
  for (const core::StepRecord& record : steps_) sink.step(record);
  for (const core::PackRecord& record : packs_) sink.pack(record);
  if (steady_) sink.steady(*steady_);
  for (const core::LinkRecord& record : links_) sink.link(record);
  for (const core::PathPiece& piece : path_) sink.path(piece);
  sink.end();
}

core::Expected<core::TimelineReader> Recording::reader() const {
  std::ostringstream bytes;
  core::TimelineWriter writer(bytes);
  replay(writer);
  return core::TimelineReader::from_bytes(std::move(bytes).str(), run_.scenario,
                                          core::TimelineReader::Check::kWhenRead);
}

core::Expected<std::shared_ptr<Recording>> read_recording(const std::string& path) {
  const auto reader = core::TimelineReader::open(path, core::TimelineReader::Check::kWhenRead);
  if (!reader) return tl::make_unexpected(reader.error());
  auto recording = std::make_shared<Recording>();
  if (const auto done = reader->replay(*recording); !done) return tl::make_unexpected(done.error());
  if (!reader->damage().empty()) recording->note("the file " + reader->damage());
  return recording;
}

}  // namespace tutti::python
