#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "core/timeline/timeline.h"
#include "core/timeline/waiting.h"

namespace tutti::core {

/// What one replica did in a step.
struct ReplicaParts {
  std::string device;
  Time start;  ///< its own step began
  Time forward, backward, other_compute;
  Time communication;  ///< at least one pack in flight
  Time exposed;        ///< of that, nothing was computed
  Time slowed = {};    ///< of what it computed: StepRecord::slowed
};

/// The record of a step that goes from `start`, when the one before had ended everywhere, to `end`, with the parts of
/// the replica that computed longest. If that replica was ahead of others, what it did before `start` is left out, so
/// that the parts are parts of the step. The rest of the step is waiting(record): the replica waited for others to
/// begin or to end theirs.
StepRecord step_record(std::int32_t step, Time start, Time end, const ReplicaParts& longest);

/// A part of a training step under the names that reports use.
template <class T>
struct NamedStepPart {
  const char* name;      ///< in JSON, without a unit
  const char* title;     ///< in text and in the window
  T value;               ///< a time, or a pair of times that are compared
  bool adds_up = false;  ///< the sum of these parts is the step
};

/// Returns the parts of a StepRecord, of StepParts, or of a PartsComparison, in the order in which reports have them.
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

/// Returns the parts whose sum is the step; waiting() is one of them only where there is any.
template <class Step>
auto parts_that_add_up(const Step& step) {
  std::vector<NamedStepPart<decltype(step.forward)>> parts;
  for (const auto& part : named_step_parts(step)) {
    if (part.adds_up && (part.title != std::string_view("waiting") || is_any(part.value))) parts.push_back(part);
  }
  return parts;
}

}  // namespace tutti::core
