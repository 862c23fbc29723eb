#include "core/timeline/block_contents.h"

#include <algorithm>
#include <initializer_list>

#include "core/proto/timeline.pb.h"
#include "core/timeline/writer.h"

namespace tutti::core {
namespace {

/// Restores a column from the differences between its entries. The sums wrap around without
/// undefined behaviour, because a damaged file may contain any numbers.
template <class T>
class RunningSum {
 public:
  T add(T difference) {
    using Unsigned = std::make_unsigned_t<T>;
    sum_ = static_cast<T>(static_cast<Unsigned>(sum_) + static_cast<Unsigned>(difference));
    return sum_;
  }

 private:
  T sum_ = 0;
};

// --- sane ranges ---

/// The latest valid time. This limit is after kHorizon, because a span that begins before kHorizon
/// may end after it.
constexpr Time kLatest = kHorizon + 16 * kLongestDuration;
/// An upper bound on the number of workers, slots or lanes. No real cluster reaches this number.
constexpr std::int32_t kMaxNumber = 100'000'000;

bool are_times(std::initializer_list<std::int64_t> picoseconds) {
  return std::all_of(picoseconds.begin(), picoseconds.end(),
                     [](std::int64_t t) { return t >= 0 && t <= kLatest.count(); });
}

bool are_counts(std::initializer_list<std::int64_t> counts) {
  return std::all_of(counts.begin(), counts.end(), [](std::int64_t n) { return n >= 0; });
}

/// True if the number is -1 (none) or an index in the valid range.
bool is_number(std::int32_t number) { return number >= -1 && number <= kMaxNumber; }

bool is_kind(std::int32_t kind) { return kind >= 0 && kind <= SpanKind::kExchange; }

bool is_valid(const Span& span) {
  return are_times({span.start.count(), span.duration.count(), span.wait.count()}) &&
         span.duration <= kLatest - span.start && is_kind(span.kind) && span.step >= 0 &&
         span.pack >= -1 && span.bytes.count() >= 0 && span.peer >= kNoTrack;
}

/// True if all columns have the same number of entries, and this number is at most `most`.
bool are_columns(std::initializer_list<int> sizes, std::size_t most) {
  const int size = *sizes.begin();
  return static_cast<std::size_t>(size) <= most &&
         std::all_of(sizes.begin(), sizes.end(), [size](int s) { return s == size; });
}

bool are_few(int records) { return static_cast<std::size_t>(records) <= kRecordsPerBlock; }

template <class Texts>
bool take_texts(const Texts& texts, std::vector<std::string>& list) {
  if (!are_few(texts.size())) return false;
  list.insert(list.end(), texts.begin(), texts.end());
  return true;
}

}  // namespace

bool BlockContents::take(const proto::Block& block, std::uint64_t offset, std::uint64_t end) {
  switch (block.content_case()) {
    case proto::Block::kRun: return take_run(block.run());
    case proto::Block::kScenarioText:
      run.scenario_text += block.scenario_text().text();
      return true;
    case proto::Block::kPlan: return take_plan(block.plan());
    case proto::Block::kLayers: return take_texts(block.layers().layer(), run.layers);
    case proto::Block::kTracks: return take_tracks(block.tracks());
    case proto::Block::kSpans: {
      const auto spans = decode(block.spans());
      if (spans) span_blocks.push_back(describe(*spans, block.spans().track(), offset, end));
      return spans.has_value();
    }
    case proto::Block::kSteps: return take_steps(block.steps());
    case proto::Block::kPacks: return take_packs(block.packs());
    case proto::Block::kLinks: return take_links(block.links());
    case proto::Block::kPath: return take_path(block.path());
    case proto::Block::kSteady: return take_steady(block.steady());
    case proto::Block::kNotes: return take_texts(block.notes().note(), run.notes);
    case proto::Block::kIndex:
    case proto::Block::kEarlierIndex:
    case proto::Block::CONTENT_NOT_SET: return true;
  }
  return true;
}

bool BlockContents::take_run(const proto::RunHeader& h) {
  if (!are_counts({h.steps(), h.replicas(), h.gradient_bytes()}) ||
      !are_times({h.communication_bound_ps(), h.step_bound_ps()})) {
    return false;
  }
  run.scenario = h.scenario();
  run.scenario_file = h.scenario_file();
  run.version = h.version();
  run.executor = h.executor();
  run.network_model = h.network_model();
  run.seed = h.seed();
  run.steps = h.steps();
  run.cluster = h.cluster();
  run.workload = h.workload();
  run.strategy = h.strategy();
  run.timing = h.timing();
  run.replicas = h.replicas();
  run.gradient_bytes = Bytes(h.gradient_bytes());
  run.communication_bound = Time(h.communication_bound_ps());
  run.bound_reason = h.bound_reason();
  run.step_bound = Time(h.step_bound_ps());
  run.devices_in_memory = h.devices_in_memory();
  return true;
}

bool BlockContents::take_plan(const proto::PlanList& list) {
  if (!are_few(list.pack_size())) return false;
  for (const proto::PackInfo& p : list.pack()) {
    if (p.bytes() < 0 || !are_few(p.gradients_size())) return false;
    std::vector<RunInfo::PackInfo>& planned = run.packs;
    if (!p.goes_on()) {
      planned.push_back(
          {{}, Bytes(p.bytes()), p.type(), p.nccl(), p.band_low(), p.band_high(), p.capped_at()});
    } else if (planned.empty()) {
      return false;
    }
    planned.back().gradients.insert(planned.back().gradients.end(), p.gradients().begin(),
                                    p.gradients().end());
  }
  return true;
}

bool BlockContents::take_tracks(const proto::TrackList& list) {
  if (!are_few(list.track_size())) return false;
  for (const proto::TrackInfo& t : list.track()) {
    const bool sane = t.id() >= 0 && t.kind() >= 0 &&
                      t.kind() <= static_cast<int>(TrackKind::kLane) && t.worker() >= 0 &&
                      is_number(t.worker()) && is_number(t.slot()) && is_number(t.lane());
    if (!sane || !known_tracks.insert(t.id()).second) return false;
    tracks.push_back(
        {t.id(), static_cast<TrackKind>(t.kind()), t.worker(), t.device(), t.slot(), t.lane()});
  }
  return true;
}

TimelineReader::SpanBlock BlockContents::describe(const std::vector<Span>& spans, TrackId track,
                                                  std::uint64_t offset, std::uint64_t end) {
  Time last;
  for (const Span& span : spans) last = std::max(last, span.start + span.duration);
  return {offset, end, track, spans.front().start, last, static_cast<std::int64_t>(spans.size())};
}

bool BlockContents::take_steps(const proto::StepColumns& c) {
  const int n = c.step_size();
  if (!are_columns({n, c.start_ps_size(), c.end_ps_size(), c.slowest_size(), c.forward_ps_size(),
                    c.backward_ps_size(), c.other_compute_ps_size(), c.communication_ps_size(),
                    c.exposed_ps_size()},
                   kRecordsPerBlock)) {
    return false;
  }
  const int awaited = c.awaited_size();
  if ((awaited != 0 && awaited != n) || c.awaited_for_ps_size() != awaited) return false;
  const int slowed = c.slowed_ps_size();
  if (slowed != 0 && slowed != n) return false;
  const int core_wait = c.core_wait_ps_size();
  if (core_wait != 0 && core_wait != n) return false;
  for (int i = 0; i < n; ++i) {
    if (c.step(i) < 0 || c.end_ps(i) < c.start_ps(i) ||
        !are_times({c.start_ps(i), c.end_ps(i), c.forward_ps(i), c.backward_ps(i),
                    c.other_compute_ps(i), c.communication_ps(i), c.exposed_ps(i),
                    awaited > 0 ? c.awaited_for_ps(i) : 0,
                    core_wait > 0 ? c.core_wait_ps(i) : 0})) {
      return false;
    }
    steps.push_back({c.step(i), Time(c.start_ps(i)), Time(c.end_ps(i)), c.slowest(i),
                     Time(c.forward_ps(i)), Time(c.backward_ps(i)), Time(c.other_compute_ps(i)),
                     Time(c.communication_ps(i)), Time(c.exposed_ps(i))});
    if (slowed != 0) {
      if (!are_times({c.slowed_ps(i)})) return false;
      steps.back().slowed = Time(c.slowed_ps(i));
    }
    if (core_wait != 0) {
      if (!are_times({c.core_wait_ps(i)})) return false;
      steps.back().core_wait = Time(c.core_wait_ps(i));
    }
    if (awaited == 0) continue;
    if (!are_times({c.awaited_for_ps(i)})) return false;
    steps.back().awaited = c.awaited(i);
    steps.back().awaited_for = Time(c.awaited_for_ps(i));
  }
  return true;
}

bool BlockContents::take_packs(const proto::PackColumns& c) {
  const int n = c.step_size();
  if (!are_columns({n, c.pack_size(), c.ready_ps_size(), c.first_start_ps_size(),
                    c.last_start_ps_size(), c.end_ps_size()},
                   kRecordsPerBlock)) {
    return false;
  }
  for (int i = 0; i < n; ++i) {
    if (c.step(i) < 0 || c.pack(i) < -1 ||
        !are_times({c.ready_ps(i), c.first_start_ps(i), c.last_start_ps(i), c.end_ps(i)})) {
      return false;
    }
    packs.push_back({c.step(i), c.pack(i), Time(c.ready_ps(i)), Time(c.first_start_ps(i)),
                     Time(c.last_start_ps(i)), Time(c.end_ps(i))});
  }
  return true;
}

bool BlockContents::take_links(const proto::LinkList& list) {
  if (!are_few(list.link_size())) return false;
  for (const proto::LinkLoad& l : list.link()) {
    if (!take_link(l)) return false;
  }
  return true;
}

bool BlockContents::take_link(const proto::LinkLoad& l) {
  if (l.goes_on() && links.empty()) return false;
  LinkRecord fresh;
  if (!l.goes_on()) {
    if (l.kind() < 0 || l.kind() >= kLinkKinds ||
        !are_counts({l.bandwidth_bytes_per_s(), l.bytes()}) ||
        !are_times({l.busy_ps(), l.bin_width_ps()})) {
      return false;
    }
    fresh = {l.name(),
             static_cast<LinkKind>(l.kind()),
             Bandwidth(l.bandwidth_bytes_per_s()),
             Bytes(l.bytes()),
             Time(l.busy_ps()),
             Time(l.bin_width_ps()),
             {}};
  }
  LinkRecord& link = l.goes_on() ? links.back() : fresh;
  const std::int64_t bins = static_cast<std::int64_t>(link.bins.size()) + l.bin_bytes_size();
  if (bins > 0 && link.bin_width.count() > kLatest.count() / bins) return false;
  if (std::any_of(l.bin_bytes().begin(), l.bin_bytes().end(), [](std::int64_t b) { return b < 0; }))
    return false;
  link.bins.insert(link.bins.end(), l.bin_bytes().begin(), l.bin_bytes().end());
  if (!l.goes_on()) links.push_back(std::move(fresh));
  return true;
}

bool BlockContents::take_steady(const proto::SteadyState& s) {
  if (!are_times({s.step_time_ps(), s.low_ps(), s.high_ps()}) || s.low_ps() > s.step_time_ps() ||
      s.high_ps() < s.step_time_ps() || s.first_step() < 0 || s.end_step() <= s.first_step()) {
    return false;
  }
  steady = {Time(s.step_time_ps()), Time(s.low_ps()), Time(s.high_ps()),
            s.first_step(),         s.end_step(),     s.steady()};
  return true;
}

bool BlockContents::take_path(const proto::PathList& list) {
  if (!are_few(list.piece_size())) return false;
  for (const proto::PathPiece& p : list.piece()) {
    if (!take_piece(p)) return false;
  }
  return true;
}

bool BlockContents::take_piece(const proto::PathPiece& p) {
  if (!is_kind(p.kind()) || p.pack() < -1 || p.wire_ps_size() != kLinkKinds ||
      p.end_ps() < p.start_ps() || !are_times({p.start_ps(), p.end_ps(), p.queued_ps()})) {
    return false;
  }
  // Pieces of the critical path must not overlap, and the parts of a piece add up to at most its
  // duration. The sum of all parts is therefore at most the end time of the last piece and cannot
  // overflow.
  if (!path.empty() && Time(p.start_ps()) < path.back().end) return false;
  std::int64_t left = p.end_ps() - p.start_ps();
  const auto part = [&left](std::int64_t t) {
    if (t < 0 || t > left) return false;
    left -= t;
    return true;
  };
  if (!part(p.launch_ps()) || !part(p.latency_ps()) || !part(p.queue_ps()) ||
      !part(p.reduce_ps()) || !part(p.copy_ps()) ||
      !std::all_of(p.wire_ps().begin(), p.wire_ps().end(), part)) {
    return false;
  }
  PathPiece& piece = path.emplace_back();
  piece.kind = p.kind();
  piece.device = p.device();
  piece.pack = p.pack();
  piece.layer = p.layer();
  piece.start = Time(p.start_ps());
  piece.end = Time(p.end_ps());
  piece.parts.launch = Time(p.launch_ps());
  for (int i = 0; i < kLinkKinds; ++i) piece.parts.wire[i] = Time(p.wire_ps(i));
  piece.parts.latency = Time(p.latency_ps());
  piece.parts.queue = Time(p.queue_ps());
  piece.parts.reduce = Time(p.reduce_ps());
  piece.parts.copy = Time(p.copy_ps());
  piece.parts.host = Time(p.host_ps());
  piece.slowest_link = p.slowest_link();
  piece.queued_at = p.queued_at();
  piece.queued_time = Time(p.queued_ps());
  return true;
}

std::optional<std::vector<Span>> BlockContents::decode(const proto::SpanColumns& c) {
  const int n = c.start_ps_size();
  if (n == 0 || c.track() < 0 ||
      !are_columns(
          {n, c.duration_ps_size(), c.wait_ps_size(), c.kind_size(), c.step_size(), c.pack_size(),
           c.index_size(), c.bytes_size(), c.peer_size(), c.peer_index_size()},
          kSpansPerBlock)) {
    return std::nullopt;
  }
  std::vector<Span> spans(n);
  RunningSum<std::int64_t> start, index, peer_index;
  RunningSum<std::int32_t> step, pack, peer;
  for (int i = 0; i < n; ++i) {
    Span& span = spans[i];
    span.start = Time(start.add(c.start_ps(i)));
    span.duration = Time(c.duration_ps(i));
    span.wait = Time(c.wait_ps(i));
    span.kind = c.kind(i);
    span.step = step.add(c.step(i));
    span.pack = pack.add(c.pack(i));
    span.index = index.add(c.index(i));
    span.bytes = Bytes(c.bytes(i));
    span.peer = peer.add(c.peer(i));
    span.peer_index = peer_index.add(c.peer_index(i));
    if (!is_valid(span)) return std::nullopt;
  }
  return spans;
}

bool BlockContents::take_index(const proto::BlockIndex& c, std::vector<IndexEntry>& entries) {
  const int n = c.offset_size();
  if (!are_columns({n, c.content_size(), c.track_size(), c.first_start_ps_size(),
                    c.last_end_ps_size(), c.spans_size()},
                   kSpansPerBlock))
    return false;
  for (int i = 0; i < n; ++i) {
    const bool sane =
        c.content(i) != proto::Block::kSpans ||
        (c.track(i) >= 0 && are_times({c.first_start_ps(i), c.last_end_ps(i)}) && c.spans(i) > 0);
    if (!sane) return false;
    entries.push_back({c.content(i),
                       {c.offset(i), 0, c.track(i), Time(c.first_start_ps(i)),
                        Time(c.last_end_ps(i)), c.spans(i)}});
  }
  return true;
}

}  // namespace tutti::core
