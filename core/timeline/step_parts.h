#pragma once

#include <string>

#include "core/timeline/timeline.h"

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

}  // namespace tutti::core
