// Records come from other processes, which may be faulty, so problem_of() checks all counts, names
// and times before anything is merged, and keeps times so small that sums cannot overflow. A time
// is converted twice: from the worker's clock to the coordinator's, and from there to the
// scenario's clock. The start, wait and end of a span are converted separately. Durations are never
// converted, so that events keep their order. The parts of a step (computation, exposed
// communication, …) are taken from the replica that computed longest after the previous step. All
// lanes of a step are registered before the first span is written, because a received message
// refers to the track of its sender, which often belongs to another worker.

#include "real/coordinator/merge.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/timeline/step_parts.h"
#include "real/coordinator/clock_sync.h"
#include "real/proto/run.pb.h"

namespace tutti::real {

using core::Time;

namespace {
constexpr std::int64_t kLongestNs = 1'000'000'000'000'000;
/// The maximum number of messages that a worker may report. A worker would need
/// weeks to send this number of messages, and the sum over all workers cannot overflow.
constexpr std::int64_t kMaxMessages = std::int64_t{1} << 40;
/// The maximum number of rows of spans of a device. A device has one row per lane, and one row per
/// pack that is in flight at the same time.
constexpr std::int32_t kMaxRows = 100'000'000;

bool same_lengths(const proto::SpanColumns& c) {
  const int n = c.start_ps_size();
  for (const int size : {c.duration_ps_size(), c.wait_ps_size(), c.kind_size(), c.step_size(),
                         c.pack_size(), c.index_size(), c.bytes_size()}) {
    if (size != n) return false;
  }
  return true;
}
}  // namespace

Time StepMerger::scenario_time(std::int64_t ns) const {
  if (time_scale_ == 0) return Time(std::clamp(ns, -kLongestNs, kLongestNs) * 1000);
  constexpr auto kMax = static_cast<double>(kLongestNs) * 1000;
  return Time(std::llround(std::clamp(static_cast<double>(ns) * 1000 / time_scale_, -kMax, kMax)));
}

double StepMerger::core_wait() const {
  if (in_flight_ == Time()) return 0;
  return std::min(
      1.0, static_cast<double>(core_wait_.count()) / static_cast<double>(in_flight_.count()));
}

bool StepMerger::has_part(std::int32_t worker, const std::string& name) const {
  const std::vector<core::Part>& parts = scenario_.cluster->machine(worker).parts();
  return std::any_of(parts.begin(), parts.end(),
                     [&](const core::Part& part) { return part.name == name; });
}

std::string StepMerger::problem_of(const proto::StepResult& part, std::int32_t worker,
                                   std::int32_t step) const {
  if (part.step() != step)
    return fmt::format("sent the times of step {} instead of step {}", part.step(), step);
  const core::Cluster& cluster = *scenario_.cluster;
  const bool server = worker >= cluster.workers() - cluster.servers();
  if (part.pack_size() != static_cast<int>(scenario_.plan.packs.size()) ||
      part.replica_size() != (server ? 0 : cluster.replicas_per_worker()) ||
      part.track_size() != part.spans_size())
    return "sent times that do not match this plan";
  // A server has no replica, and reports only spans.
  std::int64_t begin = server ? 0 : part.replica(0).start_ns();
  for (int i = 0; server && i < part.spans_size(); ++i) {
    if (part.spans(i).start_ps_size() > 0) begin = part.spans(i).start_ps(0);
  }
  const auto within = [](std::int64_t ns, std::int64_t most) { return ns > -most && ns < most; };
  bool good = within(begin, kLatestNs);
  const auto near = [&](std::int64_t ns) {
    good = good && within(ns, 2 * kLatestNs) && within(ns - begin, kLongestNs);
  };
  const auto length = [&](std::int64_t ns) { good = good && ns >= 0 && ns < kLongestNs; };
  for (int i = 0; i < part.replica_size(); ++i) {
    const proto::ReplicaStep& r = part.replica(i);
    const std::int64_t replica = std::int64_t{worker} * cluster.replicas_per_worker() + i;
    good = good && r.device() == cluster.part_name(cluster.replica(replica));
    for (const std::int64_t ns : {r.start_ns(), r.end_ns()}) near(ns);
    for (const std::int64_t ns :
         {r.forward_ns(), r.backward_ns(), r.other_ns(), r.communication_ns(), r.exposed_ns()})
      length(ns);
  }
  for (const std::int64_t ns : {part.core_wait_ns(), part.latest_ns()}) length(ns);
  good = good && part.late_messages() >= 0 && part.late_messages() <= part.messages() &&
         part.messages() < kMaxMessages;
  for (int i = 0; !server && i < part.pack_size(); ++i) {
    const proto::PackStep& p = part.pack(i);
    good = good && p.pack() == i;
    if (!core::takes_part(scenario_.plan, scenario_.plan.packs[i], step)) continue;
    for (const std::int64_t ns : {p.ready_ns(), p.first_start_ns(), p.last_start_ns(), p.end_ns()})
      near(ns);
  }
  for (const proto::TrackInfo& track : part.track()) {
    good = good && track.kind() >= 0 && track.kind() <= static_cast<int>(core::TrackKind::kLane) &&
           track.worker() == worker && track.slot() >= 0 && track.slot() < kMaxRows &&
           track.lane() >= -1 && track.lane() < kMaxRows && has_part(worker, track.device());
  }
  for (int i = 0; good && i < part.spans_size(); ++i) good = good && same_lengths(part.spans(i));
  for (int i = 0; good && i < part.spans_size(); ++i) {
    const proto::SpanColumns& c = part.spans(i);
    for (int k = 0; k < c.start_ps_size(); ++k) {
      near(c.start_ps(k));
      length(c.duration_ps(k));
      good = good && c.kind(k) >= 0 && c.kind(k) <= core::SpanKind::kExchange && c.index(k) >= 0 &&
             c.wait_ps(k) >= 0 && c.wait_ps(k) <= c.duration_ps(k) && c.bytes(k) >= 0 &&
             c.pack(k) >= -1 && c.pack(k) < part.pack_size() && c.step(k) >= 0 &&
             c.step(k) <= step;  // channels are reported late
    }
  }
  return good ? "" : "sent impossible times";
}

void StepMerger::begin_batch(const std::vector<WorkerPart>& parts) {
  origin_ns_ = std::numeric_limits<std::int64_t>::max();
  for (const WorkerPart& part : parts) {
    for (const proto::ReplicaStep& replica : part.result->replica())
      origin_ns_ = std::min(origin_ns_, part.to_ours(replica.start_ns()));
  }
  origin_ = length_;
}

void StepMerger::merge(std::int32_t step, const std::vector<WorkerPart>& parts) {
  std::vector<InRun> in_run;
  for (const WorkerPart& part : parts) {
    in_run.emplace_back([this, &part](std::int64_t ns) {
      // If the error bound of a clock exceeds the distance between two events, their order may
      // change. No event moves before the start of the batch.
      const Time since = scenario_time(std::max<std::int64_t>(part.to_ours(ns) - origin_ns_, 0));
      return std::min(origin_ + since, core::kHorizon);
    });
  }
  Time end = length_;
  Time most(-1);
  core::ReplicaParts longest;
  for (std::size_t w = 0; w < parts.size(); ++w) {
    for (const proto::ReplicaStep& replica : parts[w].result->replica()) {
      end = std::max(end, in_run[w](replica.end_ns()));
      core::ReplicaParts one = {replica.device(),
                                in_run[w](replica.start_ns()),
                                scenario_time(replica.forward_ns()),
                                scenario_time(replica.backward_ns()),
                                scenario_time(replica.other_ns()),
                                scenario_time(replica.communication_ns()),
                                scenario_time(replica.exposed_ns())};
      const Time computed = core::computation_after(length_, one);
      if (computed < most) continue;
      most = computed;
      longest = std::move(one);
    }
  }
  core::StepRecord record = core::step_record(step, length_, end, longest);
  // If links are emulated, the recorded times follow from the scenario, and waiting for cores does
  // not change them. Delays that the emulation cannot hide are counted as late messages.
  for (const WorkerPart& part : parts) {
    if (time_scale_ == 0)
      record.core_wait = std::max(record.core_wait, scenario_time(part.result->core_wait_ns()));
  }
  record.core_wait = std::min(record.core_wait, end - record.start);
  in_flight_ += record.communication;
  core_wait_ += record.core_wait;
  write_packs(step, parts, in_run);
  peers_.begin_step();
  for (const WorkerPart& part : parts) note_lanes(*part.result);
  for (std::size_t w = 0; w < parts.size(); ++w) {
    const proto::StepResult& part = *parts[w].result;
    for (int i = 0; i < part.track_size(); ++i)
      write_spans(part.track(i), part.spans(i), in_run[w]);
    left_out_ = left_out_ || part.spans_left_out();
  }
  sink_.step(record);
  length_ = end;
}

void StepMerger::write_packs(std::int32_t step, const std::vector<WorkerPart>& parts,
                             const std::vector<InRun>& in_run) {
  for (std::size_t p = 0; p < scenario_.plan.packs.size(); ++p) {
    if (!core::takes_part(scenario_.plan, scenario_.plan.packs[p], step)) continue;
    core::PackRecord pack;
    pack.step = step;
    pack.pack = static_cast<std::int32_t>(p);
    bool first = true;
    for (std::size_t w = 0; w < parts.size(); ++w) {
      if (parts[w].result->replica_size() == 0) continue;
      const proto::PackStep& part = parts[w].result->pack(static_cast<int>(p));
      const Time start = in_run[w](part.first_start_ns());
      pack.ready = std::max(pack.ready, in_run[w](part.ready_ns()));
      pack.first_start = first ? start : std::min(pack.first_start, start);
      first = false;
      pack.last_start = std::max(pack.last_start, in_run[w](part.last_start_ns()));
      pack.end = std::max(pack.end, in_run[w](part.end_ns()));
    }
    sink_.pack(pack);
  }
}

std::optional<core::TrackId> StepMerger::track_of(const proto::TrackInfo& row) {
  if (row.worker() < record_.first_worker || row.worker() > record_.last_worker)
    return std::nullopt;
  const auto key =
      std::tuple(row.kind(), row.worker(), std::string(row.device()), row.slot(), row.lane());
  const auto [known, fresh] = tracks_.try_emplace(key, static_cast<core::TrackId>(tracks_.size()));
  if (fresh) {
    sink_.track({known->second, static_cast<core::TrackKind>(row.kind()), row.worker(),
                 std::string(row.device()), row.slot(), row.lane()});
  }
  return known->second;
}

/// Registers, for each lane and pack, the track with the lane's spans, so that the span of a
/// receiver can refer to the sender's track.
void StepMerger::note_lanes(const proto::StepResult& part) {
  for (int i = 0; i < part.track_size(); ++i) {
    const proto::TrackInfo& row = part.track(i);
    const auto track = track_of(row);
    if (!track || row.kind() != static_cast<int>(core::TrackKind::kLane)) continue;
    std::int32_t last = -1;
    for (const std::int32_t pack : part.spans(i).pack()) {
      if (pack != last) peers_.add(row.worker(), row.device(), row.lane(), pack, *track);
      last = pack;
    }
  }
}

void StepMerger::write_spans(const proto::TrackInfo& row, const proto::SpanColumns& columns,
                             const InRun& in_run) {
  const auto track = track_of(row);
  if (!track) return;
  const bool lane = row.kind() == static_cast<int>(core::TrackKind::kLane);
  for (int i = 0; i < columns.start_ps_size(); ++i) {
    const std::int64_t start = columns.start_ps(i);
    core::Span span;
    // Convert every time separately, so that events keep their order even if the clocks run at
    // different rates.
    span.start = in_run(start);
    span.duration = in_run(start + columns.duration_ps(i)) - span.start;
    span.wait = in_run(start + columns.wait_ps(i)) - span.start;
    span.kind = columns.kind(i);
    span.step = columns.step(i);
    span.pack = columns.pack(i);
    span.index = columns.index(i);
    span.bytes = core::Bytes(columns.bytes(i));
    if (span.start + span.duration < record_.from || span.start > record_.to) continue;
    if (lane) peers_.join(row.worker(), row.device(), row.lane(), span);
    sink_.span(*track, span);
  }
}

}  // namespace tutti::real
