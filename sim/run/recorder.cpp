#include "sim/run/recorder.h"

#include "core/scenario/run_info.h"

namespace tutti::sim {

using core::PartId;
using core::RecordLevel;
using core::Span;
using core::SpanKind;
using core::Time;
using core::TrackId;
using core::TrackKind;

bool Recorder::covers(PartId device, Time start, Time end) const {
  return is_recorded(device) && end >= options_.from && start <= options_.to;
}

void Recorder::add(TrackId track, const Span& span) {
  if (spans_ == options_.most_spans) {
    sink_.note(core::limit_note(span.start, spans_));
  }
  if (spans_++ < options_.most_spans) sink_.span(track, span);
}

TrackId Recorder::track(TrackKind kind, PartId device, std::int32_t slot, std::int32_t lane) {
  const auto [known, fresh] =
      tracks_.try_emplace({kind, device, slot, lane}, static_cast<TrackId>(tracks_.size()));
  if (fresh)
    sink_.track({known->second, kind, device.worker, cluster_.part(device).name, slot, lane});
  return known->second;
}

void Recorder::compute(PartId device, std::int32_t stream, const core::ComputeTask& task,
                       std::int32_t step, Time start, Time end) {
  if (options_.level < RecordLevel::kPacks || !covers(device, start, end) || start == end) return;
  Span span;
  span.start = start;
  span.duration = end - start;
  span.kind = SpanKind::kFirstCompute + static_cast<std::int32_t>(task.kind);
  span.step = step;
  span.pack = task.pack;
  span.index = std::max(task.index, 0);
  add(track(TrackKind::kCompute, device, stream, -1), span);
}

void Recorder::launched(PartId device, std::uint32_t instance) {
  if (options_.level < RecordLevel::kPacks || !is_recorded(device)) return;
  Slots& slots = slots_in_use_[device];
  std::int32_t slot = slots.used;
  if (slots.free.empty()) {
    ++slots.used;
  } else {
    slot = slots.free.top();
    slots.free.pop();
  }
  slots_[instance][device] = slot;
}

std::int32_t Recorder::slot_of(PartId device, std::uint32_t instance) const {
  const auto devices = slots_.find(instance);
  if (devices == slots_.end()) return 0;
  const auto slot = devices->second.find(device);
  return slot == devices->second.end() ? 0 : slot->second;
}

void Recorder::pack_done(PartId device, std::uint32_t instance, std::int32_t step,
                         std::int32_t pack, Time start, Time end) {
  Span span;
  span.start = start;
  span.kind = SpanKind::kPackInFlight;
  span.step = step;
  span.pack = pack;
  in_flight(device, instance, span, end);
}

void Recorder::exchange_done(PartId device, std::uint32_t instance, std::int32_t step,
                             std::int32_t exchange, Time start, Time end) {
  Span span;
  span.start = start;
  span.kind = SpanKind::kExchange;
  span.step = step;
  span.index = exchange;
  in_flight(device, instance, span, end);
}

void Recorder::in_flight(PartId device, std::uint32_t instance, Span span, Time end) {
  if (options_.level < RecordLevel::kPacks || !is_recorded(device)) return;
  const std::int32_t slot = slot_of(device, instance);
  slots_in_use_[device].free.push(slot);
  if (!covers(device, span.start, end)) return;
  span.duration = end - span.start;
  add(track(TrackKind::kPacks, device, slot, -1), span);
}

void Recorder::step(const StepDone& done, std::int32_t step, std::int32_t pack, core::Bytes element,
                    const core::Group& group) {
  const PartId device = group.device(done.rank);
  if (done.step.kind == core::StepKind::kNop || !covers(device, done.start, done.end)) return;
  Span span;
  span.start = done.start;
  span.duration = done.end - done.start;
  span.wait = std::min(done.wait, span.duration);
  span.kind = static_cast<std::int32_t>(done.step.kind);
  span.step = step;
  span.pack = pack;
  span.index = done.index;
  const bool sends_only =
      done.step.kind == core::StepKind::kSend || done.step.kind == core::StepKind::kMulticast;
  span.bytes = (sends_only ? done.step.source.count : done.step.target.count) * element;
  if (done.peer >= 0) {
    const PartId sender = group.device(done.peer);
    if (covers(sender, done.start, done.end)) {
      span.peer = track(TrackKind::kLane, sender, slot_of(sender, done.instance), done.peer_lane);
      span.peer_index = done.peer_index;
    }
  }
  add(track(TrackKind::kLane, device, slot_of(device, done.instance), done.lane), span);
}

}  // namespace tutti::sim
