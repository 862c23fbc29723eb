#include "real/worker/step_message.h"

#include "real/proto/run.pb.h"

namespace tutti::real {

using Clock = Transport::Clock;

namespace {

using ToShownTime = std::function<std::int64_t(std::int64_t)>;

std::int64_t nanoseconds(Clock::time_point t) {
  return std::chrono::nanoseconds(t.time_since_epoch()).count();
}
std::int64_t nanoseconds(Clock::duration d) { return std::chrono::nanoseconds(d).count(); }

void write_spans(const RecordedSpans& row, const ToShownTime& shown, proto::TrackInfo& track,
                 proto::SpanColumns& columns) {
  track.set_kind(static_cast<int>(row.track.kind));
  track.set_worker(row.track.worker);
  track.set_device(row.track.device);
  track.set_slot(row.track.slot);
  track.set_lane(row.track.lane);
  for (const core::Span& span : row.spans) {
    const std::int64_t start = shown(span.start.count());
    columns.add_start_ps(start);
    columns.add_duration_ps(shown((span.start + span.duration).count()) - start);
    columns.add_wait_ps(shown((span.start + span.wait).count()) - start);
    columns.add_kind(span.kind);
    columns.add_step(span.step);
    columns.add_pack(span.pack);
    columns.add_index(span.index);
    columns.add_bytes(span.bytes.count());
  }
}

}  // namespace

void write_step(const WorkerStep& result, const ToShownTime& shown, proto::StepResult& message) {
  const auto at = [&](Clock::time_point t) { return shown(nanoseconds(t)); };
  message.set_step(result.step);
  for (const ReplicaStep& replica : result.replicas) {
    proto::ReplicaStep& r = *message.add_replica();
    r.set_device(replica.device);
    r.set_start_ns(at(replica.start));
    r.set_end_ns(at(replica.end));
    r.set_forward_ns(nanoseconds(replica.forward));
    r.set_backward_ns(nanoseconds(replica.backward));
    r.set_other_ns(nanoseconds(replica.other));
    r.set_communication_ns(nanoseconds(replica.communication));
    r.set_exposed_ns(nanoseconds(replica.exposed));
  }
  for (const PackStep& pack : result.packs) {
    proto::PackStep& p = *message.add_pack();
    p.set_pack(pack.pack);
    p.set_ready_ns(at(pack.ready));
    p.set_first_start_ns(at(pack.first_start));
    p.set_last_start_ns(at(pack.last_start));
    p.set_end_ns(at(pack.end));
  }
  for (const RecordedSpans& row : result.recorded)
    write_spans(row, shown, *message.add_track(), *message.add_spans());
  message.set_spans_left_out(result.spans_left_out);
  message.set_core_wait_ns(result.core_wait.count());
}

}  // namespace tutti::real
