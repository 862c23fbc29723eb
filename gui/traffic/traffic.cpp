// Messages are computed from the steps that received them, when they are needed (message()). A
// receiving step records the row and the index of the sending step, so each message needs only one
// lookup among the sender's steps (lane_steps.h). The start of a message is not always recorded. A
// step that only sends records the time at which it began to send. A fused step does not record
// this time, so the start is determined by the wait of the receiver (see Transfer).
//
// each_in() finds the messages of a time range. The steps of a lane end in order, so a search finds
// the first one that ends in the range. Their messages may have been sent in any order, so
// each_in() skips steps by the minima of `sent` of 16 steps, of 256 steps, and so on.
//
// A counter of 6 million messages has up to 24 million changes, which would take 400 MB. The
// counter of the whole run therefore merges them into at most kMaxValues maxima, and counters_in()
// computes each change of a short range from its messages.
//
// Exchanges have no pack number, so they are distinguished by their times (exchanges.cpp). Files
// may be damaged, so times and sizes are limited, and no sum can overflow.

#include "gui/traffic/traffic.h"

#include <algorithm>
#include <limits>
#include <set>

#include <fmt/format.h>

#include "core/base/check.h"
#include "gui/trace/exchanges.h"

namespace tutti::gui {

using core::Error;
using core::Lane;
using core::Span;
using core::StepKind;
using core::Time;

namespace {

constexpr std::size_t kMessageFan = 16;
/// The counters are built from pieces of the run with about this number of messages.
constexpr std::int64_t kMessagesPerPiece = 65'536;
constexpr std::int64_t kMessagesPerSample = 1024;
/// The largest number of changes that counters_in() computes.
constexpr std::size_t kMaxPage = 200'000;
constexpr std::int64_t kMaxRanks = 1024;
/// The sum of all messages is at most this number of bytes, so that no counter can overflow.
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 62;
constexpr std::int64_t kLastIndex = std::int64_t{1} << 62;

bool takes_message(int kind) {
  return kind <= static_cast<int>(StepKind::kSwitchReduce) &&
         (receives(static_cast<StepKind>(kind)) ||
          kind == static_cast<int>(StepKind::kSwitchReduce));
}

bool sends_only(StepKind kind) { return kind == StepKind::kSend || kind == StepKind::kMulticast; }

}  // namespace

double Transfer::progress(Time t) const {
  const Time arrives = awaited > left ? std::max(left, moves) : taken;
  if (t >= arrives) return 1;
  if (t <= moves) return 0;
  return static_cast<double>((t - moves).count()) / static_cast<double>((arrives - moves).count());
}

std::int32_t Traffic::device(std::int32_t worker, const std::string& name) const {
  const auto found = std::find(devices_.begin(), devices_.end(), Device{worker, name});
  return found == devices_.end() ? -1 : static_cast<std::int32_t>(found - devices_.begin());
}

std::vector<std::int32_t> devices_of_ranks(const core::Collective& collective,
                                           const Traffic& traffic) {
  const core::Group& group = collective.group;
  if (group.size() > kMaxRanks) return {};
  std::map<Traffic::Device, std::int32_t> known;
  for (std::size_t d = 0; d < traffic.devices().size(); ++d)
    known[traffic.devices()[d]] = static_cast<std::int32_t>(d);
  std::vector<std::int32_t> devices;
  std::set<core::PartId> seen;
  for (std::int64_t rank = 0; rank < group.size(); ++rank) {
    const core::PartId part = group.device(rank);
    if (!seen.insert(part).second) return {};
    const auto device = known.find({part.worker, group.cluster().part(part).name});
    devices.push_back(device == known.end() ? -1 : device->second);
  }
  return devices;
}

core::Expected<std::shared_ptr<const Traffic>> Traffic::read(const Trace& trace,
                                                             const std::atomic<bool>* cancel,
                                                             std::size_t max_values) {
  std::shared_ptr<Traffic> traffic(new Traffic);
  traffic->max_values_ = max_values;
  if (auto read = traffic->read_steps(trace, cancel); !read)
    return tl::make_unexpected(read.error());
  if (!traffic->index(cancel)) return tl::make_unexpected(Error::run("stopped"));
  return traffic;
}

core::Expected<void> Traffic::read_steps(const Trace& trace, const std::atomic<bool>* cancel) {
  std::map<core::TrackId, std::int32_t> row_of_track;
  for (const Trace::Row& row : trace.rows()) {
    const Device device{row.track.worker, row.track.device};
    if (devices_.empty() || devices_.back() != device) devices_.push_back(device);
    const bool is_lane = row.track.kind == core::TrackKind::kLane;
    if (is_lane) steps_ += row.spans.size();
    row_of_track[row.track.id] = static_cast<std::int32_t>(rows_.size());
    rows_.push_back({is_lane ? LaneSteps(row.spans) : LaneSteps(),
                     static_cast<std::int32_t>(devices_.size()) - 1, row.track.lane});
    if (is_lane) rows_of_lane_[{rows_.back().device, row.track.lane}].push_back(rows_.size() - 1);
  }
  if (steps_ == 0) return {};
  largest_message_ = core::Bytes(kMaxBytes / steps_);
  const auto exchanges = Exchanges::read(trace);
  if (!exchanges) return tl::make_unexpected(exchanges.error());
  for (std::size_t r = 0; r < rows_.size(); ++r) {
    if (trace.rows()[r].track.kind != core::TrackKind::kLane) continue;
    if (cancel && *cancel) return tl::make_unexpected(Error::run("stopped"));
    if (auto read = read_row(trace, r, *exchanges, row_of_track); !read) return read;
  }
  return {};
}

core::Expected<void> Traffic::read_row(const Trace& trace, std::size_t r,
                                       const Exchanges& exchanges,
                                       const std::map<core::TrackId, std::int32_t>& row_of_track) {
  LaneSteps& steps = rows_[r].steps;
  const core::Track& track = trace.rows()[r].track;
  core::TrackId last_peer = core::kNoTrack;
  std::int32_t peer = -1;
  auto read = trace.read_row(r, [&](const Span& span) {
    if (span.index < 0 || span.index > kLastIndex || span.kind < 0 || span.kind > UINT8_MAX)
      return steps.skip();
    if (span.peer != last_peer) {
      const auto known = row_of_track.find(span.peer);
      peer = known == row_of_track.end() ? -1 : known->second;
      last_peer = span.peer;
    }
    const std::int32_t exchange = span.pack < 0 ? exchanges.number(track, span.start) : -1;
    steps.add({{span.step, exchange < 0 ? span.pack : LaneSteps::kFirstExchange - exchange},
               span.index,
               peer,
               span.peer_index,
               std::min(span.bytes, largest_message_)},
              takes_message(span.kind));
  });
  steps.finish();
  return read;
}

std::pair<const Traffic::Row*, SpanRow::Index> Traffic::sender_of(
    const LaneSteps::Step& step) const {
  if (step.peer < 0) return {nullptr, 0};
  const Row& peer = rows_[step.peer];
  if (const auto span = peer.steps.find(step.key, step.peer_index)) return {&peer, *span};
  // The file may name another row of the same lane.
  for (const std::size_t r : rows_of({peer.device, peer.lane})) {
    if (const auto span = rows_[r].steps.find(step.key, step.peer_index)) return {&rows_[r], *span};
  }
  return {nullptr, 0};
}

std::optional<Transfer> Traffic::message(const Row& row, SpanRow::Index i) const {
  const SpanRow& spans = row.steps.spans();
  if (!takes_message(spans.kind(i))) return std::nullopt;
  const auto step = row.steps.step(i);
  if (!step) return std::nullopt;
  Transfer message;
  message.to = row.device;
  message.to_lane = row.lane;
  message.to_index = step->index;
  message.step = step->key.step;
  message.pack = std::max(-1, step->key.pack);
  message.bytes = step->bytes;
  const bool in_switch = spans.kind(i) == static_cast<int>(StepKind::kSwitchReduce);
  message.from = in_switch ? row.device : step->peer < 0 ? -1 : rows_[step->peer].device;
  message.awaited = spans.start(i);
  const Time seen = spans.start(i) + spans.wait(i);
  message.taken = spans.end(i);
  message.sent = message.moves = seen;
  message.left = message.taken;
  const auto [sender, at] = sender_of(*step);
  if (sender && sender != &row) {
    const SpanRow& of = sender->steps.spans();
    const bool pure = sends_only(static_cast<StepKind>(of.kind(at)));
    const bool waited = seen > spans.start(i);
    const Time from = of.start(at) + of.wait(at), until = of.end(at);
    // Clamp the receiver's time to the time range of the sender's step, since the clocks in a real
    // run differ a little.
    const Time moved = std::clamp(seen, from, until);
    message.left = until;
    message.moves = waited ? moved : pure ? from : std::clamp(spans.start(i), from, until);
    message.sent = pure ? from : message.moves;
  }
  message.taken = std::max(message.taken, message.moves);
  return message;
}

bool Traffic::index(const std::atomic<bool>* cancel) {
  std::vector<Time> samples;  // the times of each kMessagesPerSample-th message
  std::pair<std::int32_t, std::int32_t> last_pair{-1, -1};
  core::Bytes* last_bytes = nullptr;
  for (Row& row : rows_) {
    if (cancel && *cancel) return false;
    const SpanRow& spans = row.steps.spans();
    std::vector<Time> level((spans.size() + kMessageFan - 1) / kMessageFan, core::kNever);
    for (SpanRow::Index i = 0; i < spans.size(); ++i) {
      const auto message = this->message(row, i);
      if (!message) continue;
      level[i / kMessageFan] = std::min(level[i / kMessageFan], message->sent);
      row.late = std::max(row.late, message->taken - spans.end(i));
      if (messages_++ % kMessagesPerSample == 0) samples.push_back(message->taken);
      last_taken_ = std::max(last_taken_, message->taken);
      if (message->from < 0 || message->from == message->to) continue;
      const std::pair pair(message->from, message->to);
      if (!last_bytes || pair != last_pair) last_bytes = &bytes_between_[pair];
      last_pair = pair;
      *last_bytes += message->bytes;
    }
    while (!level.empty()) {
      std::vector<Time> above(level.size() > 1 ? (level.size() + kMessageFan - 1) / kMessageFan : 0,
                              core::kNever);
      for (std::size_t i = 0; !above.empty() && i < level.size(); ++i)
        above[i / kMessageFan] = std::min(above[i / kMessageFan], level[i]);
      row.earliest.push_back(std::exchange(level, std::move(above)));
    }
  }
  std::sort(samples.begin(), samples.end());
  std::vector<Time> pieces{Time(-1)};
  for (std::size_t i = kMessagesPerPiece / kMessagesPerSample; i < samples.size();
       i += kMessagesPerPiece / kMessagesPerSample) {
    if (samples[i] > pieces.back()) pieces.push_back(samples[i]);
  }
  pieces.push_back(core::kNever);
  return count(pieces, cancel);
}

void Traffic::each_in(const TimeRange& range,
                      const std::function<void(const Transfer&)>& each) const {
  for (const Row& row : rows_) {
    const SpanRow& spans = row.steps.spans();
    const Time from = range.from - row.late;
    SpanRow::Index i = spans.first_from(from);
    if (i > 0 && spans.end(i - 1) > from) --i;
    // At every level, skip blocks of 16 entries whose messages were all sent after the range.
    while (i < spans.size()) {
      std::size_t level = 0, size = 1;
      while (level < row.earliest.size() && i % (size * kMessageFan) == 0 &&
             row.earliest[level][i / (size * kMessageFan)] >= range.to) {
        size *= kMessageFan;
        ++level;
      }
      if (level == 0) {
        const auto message = this->message(row, i);
        if (message && message->sent < range.to && message->taken > range.from) each(*message);
      }
      i += static_cast<SpanRow::Index>(size);
    }
  }
}

std::vector<Transfer> Traffic::in_flight(Time t) const {
  std::vector<Transfer> found;
  each_in({t, t + Time(1)}, [&](const Transfer& message) { found.push_back(message); });
  std::stable_sort(found.begin(), found.end(),
                   [](const Transfer& a, const Transfer& b) { return a.sent < b.sent; });
  return found;
}

Traffic::Counters Traffic::exact_counters(const TimeRange& range) const {
  std::vector<Counter::Change> bytes, waiting;
  const auto between = [](std::vector<Counter::Change>& changes, Time from, Time to,
                          std::int64_t by) {
    if (from >= to || by == 0) return;
    changes.push_back({from, by});
    changes.push_back({to, -by});
  };
  each_in(range, [&](const Transfer& message) {
    between(bytes, message.sent, message.taken, message.bytes.count());
    between(waiting, message.sent, message.moves, 1);
    between(waiting, std::max(message.left, message.moves), message.awaited, 1);
  });
  return {Counter(std::move(bytes)), Counter(std::move(waiting))};
}

/// Computes the counters of the whole run, one piece after the other. `pieces`: the times at which
/// pieces begin and end. A counter gets at most max_values_ values: a message changes it up to 4
/// times, so half of the values are enough for all changes. In addition, each of the fewer than
/// max_values_ / 5 long times without changes needs at most two values.
bool Traffic::count(const std::vector<Time>& pieces, const std::atomic<bool>* cancel) {
  TUTTI_CHECK(max_values_ >= 20, "{}", max_values_);
  merged_ = 1 + 8 * static_cast<std::size_t>(messages_) / max_values_;
  const Time gap(5 * (last_taken_.count() / static_cast<std::int64_t>(max_values_)) + 5);
  MergedCounter bytes(merged_, gap), waiting(merged_, gap);
  for (std::size_t i = 0; i + 1 < pieces.size(); ++i) {
    if (cancel && *cancel) return false;
    const TimeRange piece{pieces[i], pieces[i + 1]};
    const Counters exact = exact_counters(piece);
    bytes.append(exact.bytes_in_flight, piece);
    waiting.append(exact.queue_depth, piece);
  }
  counters_ = std::make_shared<Counters>(Counters{bytes.finish(), waiting.finish()});
  return true;
}

std::shared_ptr<const Traffic::Counters> Traffic::counters_in(const TimeRange& range) const {
  if (merged_ == 1) return counters_;
  const auto changes = [&](const TimeRange& of) {
    return merged_ * (counters_->bytes_in_flight.changes(of.from, of.to) +
                      counters_->queue_depth.changes(of.from, of.to));
  };
  const std::scoped_lock lock(page_lock_);
  if (page_ && page_range_.from <= range.from && range.to <= page_range_.to) return page_;
  // Compute more than the range, so that a view that moves does not compute it for every frame.
  const TimeRange wide{std::max(Time(), range.from - range.length()), range.to + range.length()};
  if (changes(wide) > kMaxPage) return counters_;
  page_ = std::make_shared<Counters>(exact_counters(wide));
  page_range_ = wide;
  return page_;
}

const std::vector<std::size_t>& Traffic::rows_of(DeviceLane lane) const {
  static const std::vector<std::size_t> kNone;
  const auto rows = rows_of_lane_.find(lane);
  return rows == rows_of_lane_.end() ? kNone : rows->second;
}

std::int64_t Traffic::steps_done(std::int32_t device, Lane lane, std::int32_t step,
                                 std::int32_t pack, Time t) const {
  std::int64_t done = 0;
  for (const std::size_t r : rows_of({device, lane}))
    done = std::max(done, rows_[r].steps.done({step, pack}, t));
  return done;
}

Traffic::Sender Traffic::sender(std::int32_t device, Lane lane, std::int32_t step,
                                std::int32_t pack, std::int64_t index) const {
  for (const std::size_t r : rows_of({device, lane})) {
    const LaneSteps& steps = rows_[r].steps;
    const auto span = steps.find({step, pack}, index);
    if (!span || !takes_message(steps.spans().kind(*span))) continue;
    const std::int32_t peer = steps.step(*span)->peer;
    return peer < 0 ? Sender{} : Sender{rows_[peer].device, rows_[peer].lane};
  }
  return {};
}

std::size_t Traffic::memory() const {
  std::size_t bytes = rows_.capacity() * sizeof(Row);
  for (const Row& row : rows_) {
    bytes += row.steps.memory();
    for (const auto& level : row.earliest) bytes += level.capacity() * sizeof(Time);
  }
  return bytes + counters_->bytes_in_flight.memory() + counters_->queue_depth.memory();
}

std::vector<std::string> counter_names(const Trace& trace) {
  const bool known =
      std::any_of(trace.rows().begin(), trace.rows().end(), [](const Trace::Row& row) {
        return row.track.kind == core::TrackKind::kLane && row.spans.size() > 0;
      });
  return known ? std::vector<std::string>{"bytes in flight", "queue depth"}
               : std::vector<std::string>();
}

std::vector<NamedCounter> counters_of(const Traffic& traffic, const TimeRange& range) {
  const Traffic::Counters& whole = traffic.counters();
  const auto in_range = traffic.counters_in(range);
  return {{"bytes in flight",
           {in_range, &in_range->bytes_in_flight},
           whole.bytes_in_flight.peak(),
           true},
          {"queue depth", {in_range, &in_range->queue_depth}, whole.queue_depth.peak(), false}};
}

}  // namespace tutti::gui
