#include "real/worker/step_log.h"

#include <algorithm>

#include "real/worker/all_ranks.h"

namespace tutti::real {

using core::ComputeKind;
using core::Rank;
using core::Span;
using core::SpanKind;
using core::Time;
using core::TrackKind;

namespace {

Span span_of(std::int32_t step, StepLog::Clock::time_point start, StepLog::Clock::time_point end) {
  Span span;
  span.start = stamp(start);
  span.duration = stamp(end) - span.start;
  span.step = step;
  return span;
}

}  // namespace

Time stamp(StepLog::Clock::time_point t) {
  return Time(std::chrono::nanoseconds(t.time_since_epoch()).count());
}

void StepLog::begin(std::int32_t first, std::int32_t count, std::size_t replicas) {
  first_ = taken_ = first;
  steps_.assign(count, {});
  rows_.assign(count, {});
  flights_.clear();
  for (std::int32_t i = 0; i < count; ++i) {
    WorkerStep& step = steps_[i];
    step.step = first + i;
    step.replicas.resize(replicas);
    step.packs.resize(scenario_.plan.packs.size());
    for (std::size_t p = 0; p < step.packs.size(); ++p) step.packs[p].pack = static_cast<int>(p);
  }
}

WorkerStep StepLog::take(std::int32_t step) {
  taken_ = step + 1;
  WorkerStep taken = std::move(at(step));
  for (auto& [row, spans] : rows_[step - first_]) taken.recorded.push_back(std::move(spans));
  return taken;
}

void StepLog::computed(std::int32_t step, Rank rank, const core::ComputeTask& task,
                       Clock::time_point start, Clock::time_point end) {
  if (!options_.packs || end <= start) return;
  const auto row = tail_of(step, TrackKind::kCompute, rank, 0, -1);
  if (!row) return;
  Span span = span_of(step, start, end);
  span.kind = SpanKind::kFirstCompute + static_cast<std::int32_t>(task.kind);
  span.pack = task.pack;
  span.index = std::max(task.index, 0);
  row->add(span);
}

void StepLog::ready(std::int32_t step, int pack, Clock::time_point now) {
  at(step).packs[pack].ready = now;
}

void StepLog::launched(CollectiveTag collective, Rank rank, Clock::time_point now) {
  PackStep& record = at(static_cast<std::int32_t>(collective.step)).packs[collective.pack];
  if (record.first_start == Clock::time_point()) record.first_start = now;
  record.last_start = now;
  std::vector<bool>& used = slots_in_use_[rank];
  const auto free = std::find(used.begin(), used.end(), false);
  const auto slot = static_cast<std::int32_t>(free - used.begin());
  if (free == used.end()) {
    used.push_back(true);
  } else {
    *free = true;
  }
  flights_[{collective, rank}] = {now, slot};
}

void StepLog::done(CollectiveTag collective, Rank rank, bool replica, Clock::time_point now) {
  const auto step = static_cast<std::int32_t>(collective.step);
  PackStep& record = at(step).packs[collective.pack];
  record.end = std::max(record.end, now);
  if (!replica) return;
  const Flight flight = flights_.at({collective, rank});
  flights_.erase({collective, rank});
  slots_in_use_[rank][flight.slot] = false;
  const auto row =
      options_.packs ? tail_of(step, TrackKind::kPacks, rank, flight.slot, -1) : std::nullopt;
  if (!row) return;
  Span span = span_of(step, flight.launched, now);
  span.kind = SpanKind::kPackInFlight;
  span.pack = static_cast<std::int32_t>(collective.pack);
  row->add(span);
}

void StepLog::lane_step(const StepDone& done) {
  if (!options_.steps || done.step.kind == core::StepKind::kNop) return;
  const auto flight = flights_.find({done.collective, done.rank});
  const auto step = static_cast<std::int32_t>(done.collective.step);
  const auto row = tail_of(step, TrackKind::kLane, done.rank,
                           flight == flights_.end() ? 0 : flight->second.slot, done.lane);
  if (!row) return;
  Span span = span_of(step, done.start, done.end);
  span.wait = stamp(done.wait) - span.start;
  span.kind = static_cast<std::int32_t>(done.step.kind);
  span.pack = static_cast<std::int32_t>(done.collective.pack);
  span.index = done.index;
  const bool sends_only =
      done.step.kind == core::StepKind::kSend || done.step.kind == core::StepKind::kMulticast;
  span.bytes =
      (sends_only ? done.step.source.count : done.step.target.count) *
      core::size_of(scenario_.plan.collective(scenario_.plan.packs[done.collective.pack]).type);
  row->add(span);
}

void StepLog::channel(const ChannelDone& done) {
  const auto step = static_cast<std::int32_t>(done.collective.step);
  const std::int32_t goes_with = std::max(step, taken_);
  if (!options_.steps || step < first_ ||
      goes_with >= first_ + static_cast<std::int32_t>(steps_.size()))
    return;
  const auto row = tail_of(goes_with, TrackKind::kLane, done.rank, 0, done.channel);
  if (!row) return;
  Span span = span_of(step, done.start, done.end);
  span.kind = SpanKind::kChannel;
  span.pack = static_cast<std::int32_t>(done.collective.pack);
  span.index = done.part;
  row->add(span);
}

/// Appends a span. In an emulation, an event that is handled late can have an earlier time than the
/// event before it. A span that would therefore overlap the row's last span begins at the end of
/// the last span, and has a length of at least 0.
void StepLog::Tail::add(Span span) const {
  const Time last = span.start + span.duration;
  const Time begun = span.start + span.wait;
  span.start = std::max(span.start, *end);
  span.duration = std::max(Time(), last - span.start);
  span.wait = std::clamp(begun - span.start, Time(), span.duration);
  *end = span.start + span.duration;
  spans->push_back(span);
}

/// Returns the place to append spans of this row; nullopt if the maximum number of spans has been
/// recorded.
std::optional<StepLog::Tail> StepLog::tail_of(std::int32_t step, TrackKind kind, Rank rank,
                                              std::int32_t slot, core::Lane lane) {
  if (spans_ >= options_.most_spans) {
    at(step).spans_left_out = true;
    return std::nullopt;
  }
  ++spans_;
  const Row key{static_cast<int>(kind), rank, slot, lane};
  RecordedSpans& row = rows_[step - first_][key];
  const core::PartId device = all_ranks(scenario_.plan).device(rank);
  if (row.spans.empty())
    row.track = {0, kind, worker_, scenario_.cluster->part(device).name, slot, lane};
  return Tail{&row.spans, &ends_[key]};
}

}  // namespace tutti::real
