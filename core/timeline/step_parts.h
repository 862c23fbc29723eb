#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/timeline/timeline.h"
#include "core/timeline/waiting.h"

namespace tutti::core {

/// The times of one replica in a step.
struct ReplicaParts {
  std::string device;
  Time start;  ///< beginning of the replica's own step
  Time forward, backward, other_compute;
  Time communication;  ///< time with at least one pack in flight
  Time exposed;        ///< part of `communication` in which nothing was computed
  Time slowed = {};    ///< part of the computation, see StepRecord::slowed
};

/// Returns the record of a step from `start`, when the previous one had ended on all replicas, to
/// `end`, with the parts of the replica that computed longest. If that replica was ahead of others,
/// its time before `start` is excluded, so that the parts lie within the step. The rest of the step
/// is waiting(record): the replica waited for others to begin or end theirs.
StepRecord step_record(std::int32_t step, Time start, Time end, const ReplicaParts& longest);

/// A part of a training step with its names in reports.
template <class T>
struct NamedStepPart {
  const char* name;      ///< name in JSON, without a unit
  const char* title;     ///< name in text and in the GUI
  T value;               ///< a time, or two times to compare
  bool adds_up = false;  ///< true if the part is one of those whose sum is the step
};

/// Returns the parts of a StepRecord, of StepParts, or of a PartsComparison, in the order of
/// reports.
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

/// Returns the parts whose sum is the step; waiting() is included only if it is not zero.
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
