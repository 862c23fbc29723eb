#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/timeline/timeline.h"
#include "core/timeline/waiting.h"

namespace tutti::core {

/// The times of one replica in one training step.
struct ReplicaParts {
  std::string device;
  Time start;  ///< time at which this replica started the step
  Time forward, backward, other_compute;
  Time communication;  ///< time during which at least one pack was in flight
  Time exposed;        ///< part of `communication` in which the replica did not compute
  Time slowed = {};    ///< see StepRecord::slowed
};

/// Returns how long a replica computes after `start` in a training step. A replica computes without
/// a break from its own start to the end of its backward pass, so its computation before `start` is
/// at most the time from its own start to `start`.
Time computation_after(Time start, const ReplicaParts& replica);

/// Returns the record of a training step. `start` is the time at which the last replica completed
/// the previous step. `longest` has the times of the replica that computed longest after `start`;
/// the record contains the parts of this replica's time (forward, backward and so on). If this
/// replica began the step before `start`, the time before `start` is excluded, so that all parts
/// lie within the step. waiting(record) returns the rest of the step, in which the replica waited
/// for other replicas.
StepRecord step_record(std::int32_t step, Time start, Time end, const ReplicaParts& longest);

/// A part of a training step, with its names in reports.
template <class T>
struct NamedStepPart {
  const char* name;      ///< name in JSON, without a unit
  const char* title;     ///< title in text and in the GUI
  T value;               ///< the part's time; for a comparison, its times in both timelines
  bool adds_up = false;  ///< true if the part is a summand of the step time
};

/// Returns the parts of a StepRecord, StepParts or PartsComparison, in the order of reports.
template <class Step>
auto named_step_parts(const Step& step) {
  return std::array<NamedStepPart<decltype(step.forward)>, 7>{
      {{"forward", "forward", step.forward, true},
       {"backward", "backward", step.backward, true},
       {"other_compute", "copies and updates", step.other_compute, true},
       {"communication", "communication", step.communication},
       {"exposed_communication", "exposed communication", step.exposed, true},
       {"waiting", "waiting", waiting(step), true},
       {"slowed_by_communication", "slowed by communication", step.slowed}}};
}

/// Returns the parts whose sum is the step time. waiting() is included only if it is above 0.
template <class Step>
auto parts_that_add_up(const Step& step) {
  std::vector<NamedStepPart<decltype(step.forward)>> parts;
  for (const auto& part : named_step_parts(step)) {
    if (part.adds_up && (part.title != std::string_view("waiting") || is_any(part.value)))
      parts.push_back(part);
  }
  return parts;
}

}  // namespace tutti::core
