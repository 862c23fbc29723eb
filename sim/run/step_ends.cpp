#include "sim/run/step_ends.h"

namespace tutti::sim {

using core::Time;

std::optional<core::StepRecord> StepEnds::add(std::int32_t step, const ReplicaEnd& end, Time now) {
  Step& all = steps_[step];
  // Calls are in order of time, so the last call stores the cause of the replica that ends last.
  all.cause = end.cause;
  all.awaited.add(end.device, end.began, end.ready, workers_per_simulated_);
  const core::ReplicaParts parts{"",        end.began,         end.forward, end.backward,
                                 end.other, end.communication, end.exposed, end.slowed};
  const auto offer = [&](Longest& best, Time computed) {
    if (all.replicas > 0 && computed < best.computed) return;
    best = {computed, end.device, parts};
  };
  offer(all.in_total, end.forward + end.backward + end.other);
  offer(all.after_start, core::computation_after(last_end_, parts));
  // Asynchronous workers may end a step before the previous step has ended on all replicas.
  all.start_known = all.start_known && steps_.begin()->first == step;
  ++all.replicas;
  if (all.replicas < cluster_.replicas()) return std::nullopt;
  Longest& longest = all.start_known ? all.after_start : all.in_total;
  longest.parts.device = cluster_.part_name(longest.device);
  core::StepRecord record = core::step_record(step, last_end_, now, longest.parts);
  if (all.awaited.replicas > 1) {
    record.awaited = cluster_.part_name(all.awaited.last);
    record.awaited_for = all.awaited.waited();
  }
  last_end_ = record.end;
  last_start_ = record.start;
  last_cause_ = all.cause;
  ++ended_;
  steps_.erase(step);
  return record;
}

void StepEnds::add_causes(std::vector<Cause*>& causes) {
  causes.push_back(&last_cause_);
  for (auto& [step, all] : steps_) causes.push_back(&all.cause);
}

}  // namespace tutti::sim
