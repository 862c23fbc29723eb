#include "sim/run/step_ends.h"

namespace tutti::sim {

using core::Time;

std::optional<core::StepRecord> StepEnds::add(std::int32_t step, const ReplicaEnd& end, Time now) {
  Step& all = steps_[step];
  // Calls are in order of time, so the last call stores the cause of the replica that ends last.
  all.cause = end.cause;
  all.awaited.add(end.device, end.began, end.ready, workers_per_simulated_);
  const Time computed = end.forward + end.backward + end.other;
  if (all.replicas++ == 0 || computed >= all.longest) {
    all.longest = computed;
    all.parts = {cluster_.part_name(end.device),
                 end.began,
                 end.forward,
                 end.backward,
                 end.other,
                 end.communication,
                 end.exposed,
                 end.slowed};
  }
  if (all.replicas < cluster_.replicas()) return std::nullopt;
  core::StepRecord record = core::step_record(step, last_end_, now, all.parts);
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
