// Messages are reconstructed from the steps that received them. A receiving step records the track
// and the index of the sending step, so each message needs only one lookup among the sender's
// steps. The start of a message is not always recorded. A step that only sends records the time at
// which it began to send. A fused step does not record this time, so the start is determined by the
// wait of the receiver (see Transfer). Messages are sorted by `sent`. The function in_flight()
// skips messages that have been taken. To do so, in_flight() uses a tree in which each node has the
// maximum of 16 entries of the level below. Exchanges have no pack number, so they are
// distinguished by their times (exchanges.cpp). Files may be damaged, so times and sizes are
// limited, and no sum can overflow.

#include "gui/traffic/traffic.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "gui/trace/exchanges.h"
#include "gui/trace/messages.h"

namespace tutti::gui {

using core::Error;
using core::Lane;
using core::Span;
using core::StepKind;
using core::Time;

namespace {

constexpr std::size_t kMessageFan = 16;
constexpr std::int64_t kMaxRanks = 1024;
/// Messages in a damaged file that are larger than this are ignored, so that sums over all messages
/// cannot overflow.
constexpr core::Bytes kLargestMessage{std::int64_t{1} << 39};
constexpr std::int64_t kLastIndex = std::int64_t{1} << 62;

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

std::size_t Traffic::Segment::position(std::int64_t index) const {
  const auto found = std::lower_bound(indices.begin(), indices.end(), index);
  return found == indices.end() || *found != index
             ? indices.size()
             : static_cast<std::size_t>(found - indices.begin());
}

core::Expected<std::shared_ptr<const Traffic>> Traffic::read(const Trace& trace,
                                                             const std::atomic<bool>* cancel) {
  std::shared_ptr<Traffic> traffic(new Traffic);
  if (auto read = traffic->read_steps(trace, cancel); !read)
    return tl::make_unexpected(read.error());
  traffic->join();
  traffic->count();
  return traffic;
}

core::Expected<void> Traffic::read_steps(const Trace& trace, const std::atomic<bool>* cancel) {
  std::vector<std::int32_t> device_of_row;
  for (const Trace::Row& row : trace.rows()) {
    const Device device{row.track.worker, row.track.device};
    if (devices_.empty() || devices_.back() != device) devices_.push_back(device);
    device_of_row.push_back(static_cast<std::int32_t>(devices_.size()) - 1);
    if (row.track.kind == core::TrackKind::kLane) steps_ += row.spans.size();
  }
  if (steps_ > kMaxSteps) {
    return tl::make_unexpected(Error::request(fmt::format(
        "messages cannot be followed, because the timeline has {} schedule steps (limit: {}); "
        "record fewer workers or a shorter time (--workers, --from-us, --to-us)",
        steps_, kMaxSteps)));
  }
  if (steps_ == 0) return {};
  const auto exchanges = Exchanges::read(trace);
  if (!exchanges) return tl::make_unexpected(exchanges.error());
  std::map<core::TrackId, std::size_t> row_of_track;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) row_of_track[trace.rows()[r].track.id] = r;
  for (std::size_t r = 0; r < trace.rows().size(); ++r) {
    const core::Track& track = trace.rows()[r].track;
    if (track.kind != core::TrackKind::kLane) continue;
    if (cancel && *cancel) return tl::make_unexpected(Error::run("stopped"));
    Segment* segment = nullptr;
    Key last{-1, -1, -1, -1};
    const auto read = trace.read_row(r, [&](const Span& span) {
      const std::int32_t exchange = span.pack < 0 ? exchanges->number(track, span.start) : -1;
      const Key key{device_of_row[r], track.lane, span.step,
                    exchange < 0 ? span.pack : kFirstExchange - exchange};
      if (!segment || key != last) segment = &segments_[key];
      last = key;
      // A damaged file may contain a step twice. The first occurrence counts.
      const bool again = !segment->indices.empty() && span.index <= segment->indices.back();
      if (again || span.index < 0 || span.index > kLastIndex || span.kind < 0) return;
      Sender sender;
      if (const auto peer = row_of_track.find(span.peer); peer != row_of_track.end())
        sender = {device_of_row[peer->second], trace.rows()[peer->second].track.lane};
      segment->indices.push_back(span.index);
      segment->starts.push_back(span.start);
      segment->began.push_back(begun(span));
      segment->ends.push_back(span.start + span.duration);
      segment->kinds.push_back(span.kind);
      segment->bytes.push_back(std::min(span.bytes, kLargestMessage));
      segment->senders.push_back(sender);
      segment->sender_indices.push_back(span.peer_index);
    });
    if (!read) return tl::make_unexpected(read.error());
  }
  return {};
}

void Traffic::join() {
  for (const auto& [key, segment] : segments_) {
    for (std::size_t i = 0; i < segment.indices.size(); ++i) {
      const auto kind = static_cast<StepKind>(segment.kinds[i]);
      if (segment.kinds[i] <= static_cast<int>(StepKind::kSwitchReduce) &&
          (receives(kind) || kind == StepKind::kSwitchReduce))
        add_message(key, segment, i);
    }
  }
  std::stable_sort(transfers_.begin(), transfers_.end(),
                   [](const Transfer& a, const Transfer& b) { return a.sent < b.sent; });
}

void Traffic::add_message(const Key& key, const Segment& segment, std::size_t i) {
  const auto& [device, lane, step, pack] = key;
  Transfer message;
  message.to = device;
  message.to_lane = lane;
  message.to_index = segment.indices[i];
  message.step = step;
  message.pack = std::max(-1, pack);
  message.bytes = segment.bytes[i];
  const bool in_switch = segment.kinds[i] == static_cast<int>(StepKind::kSwitchReduce);
  message.from = in_switch ? device : segment.senders[i].device;
  message.awaited = segment.starts[i];
  const Time seen = segment.began[i];
  message.taken = segment.ends[i];
  message.sent = message.moves = seen;
  message.left = message.taken;
  const auto sender =
      segments_.find({segment.senders[i].device, segment.senders[i].lane, step, pack});
  const std::size_t at = sender == segments_.end() || sender->second.kinds.empty()
                             ? 0
                             : sender->second.position(segment.sender_indices[i]);
  if (sender != segments_.end() && &sender->second != &segment &&
      at < sender->second.indices.size()) {
    const Segment& of = sender->second;
    const bool pure = sends_only(static_cast<StepKind>(of.kinds[at]));
    const bool waited = seen > segment.starts[i];
    const Time from = of.began[at], until = of.ends[at];
    // Clamp the receiver's time to the time range of the sender's step, since the clocks in a real
    // run differ a little.
    const Time moved = std::clamp(seen, from, until);
    message.left = until;
    message.moves = waited ? moved : pure ? from : std::clamp(segment.starts[i], from, until);
    message.sent = pure ? from : message.moves;
  }
  message.taken = std::max(message.taken, message.moves);
  transfers_.push_back(message);
}

/// Computes the tree of maxima over the messages, and the counters.
void Traffic::count() {
  std::vector<Counter::Change> bytes, waiting;
  const auto between = [](std::vector<Counter::Change>& changes, Time from, Time to,
                          std::int64_t by) {
    if (from >= to || by == 0) return;
    changes.push_back({from, by});
    changes.push_back({to, -by});
  };
  std::vector<Time> taken;
  for (const Transfer& message : transfers_) {
    between(bytes, message.sent, message.taken, message.bytes.count());
    between(waiting, message.sent, message.moves, 1);
    between(waiting, std::max(message.left, message.moves), message.awaited, 1);
    taken.push_back(message.taken);
  }
  bytes_in_flight_ = Counter(std::move(bytes));
  queue_depth_ = Counter(std::move(waiting));
  for (std::size_t size = taken.size(); size > 1; size = last_taken_.back().size()) {
    const std::vector<Time>& below = last_taken_.empty() ? taken : last_taken_.back();
    std::vector<Time> level((size + kMessageFan - 1) / kMessageFan);
    for (std::size_t i = 0; i < size; ++i)
      level[i / kMessageFan] = std::max(level[i / kMessageFan], below[i]);
    last_taken_.push_back(std::move(level));
  }
}

std::vector<const Transfer*> Traffic::in_flight(Time t) const {
  const auto after =
      std::upper_bound(transfers_.begin(), transfers_.end(), t,
                       [](Time wanted, const Transfer& message) { return wanted < message.sent; });
  const auto end = static_cast<std::size_t>(after - transfers_.begin());
  std::vector<const Transfer*> found;
  // At every level, skip blocks of 16 entries whose messages have all been received by `t`.
  for (std::size_t i = 0; i < end;) {
    std::size_t level = 0, size = 1;
    while (level < last_taken_.size() && i % (size * kMessageFan) == 0 &&
           last_taken_[level][i / (size * kMessageFan)] <= t) {
      size *= kMessageFan;
      ++level;
    }
    if (level == 0 && transfers_[i].taken > t) found.push_back(&transfers_[i]);
    i += size;
  }
  return found;
}

std::int64_t Traffic::steps_done(std::int32_t device, Lane lane, std::int32_t step,
                                 std::int32_t pack, Time t) const {
  const auto segment = segments_.find({device, lane, step, pack});
  if (segment == segments_.end()) return 0;
  const std::vector<Time>& ends = segment->second.ends;
  const auto ended = std::upper_bound(ends.begin(), ends.end(), t) - ends.begin();
  return ended == 0 ? 0 : segment->second.indices[static_cast<std::size_t>(ended) - 1] + 1;
}

Traffic::Sender Traffic::sender(std::int32_t device, Lane lane, std::int32_t step,
                                std::int32_t pack, std::int64_t index) const {
  const auto segment = segments_.find({device, lane, step, pack});
  if (segment == segments_.end()) return {};
  const std::size_t at = segment->second.position(index);
  return at < segment->second.senders.size() ? segment->second.senders[at] : Sender{};
}

std::vector<std::string> counter_names(const Trace& trace) {
  std::int64_t steps = 0;
  for (const Trace::Row& row : trace.rows()) {
    if (row.track.kind == core::TrackKind::kLane) steps += row.spans.size();
  }
  const bool known = steps > 0 && steps <= Traffic::kMaxSteps;
  return known ? std::vector<std::string>{"bytes in flight", "queue depth"}
               : std::vector<std::string>();
}

std::vector<NamedCounter> counters_of(const Traffic& traffic) {
  return {{"bytes in flight", &traffic.bytes_in_flight(), true},
          {"queue depth", &traffic.queue_depth(), false}};
}

}  // namespace tutti::gui
