#pragma once

// Folding: in a symmetric scenario all workers do the same at the same times, so one of them is
// simulated on behalf of all (docs/scale.md, decision 23). A scenario is symmetric if all workers
// are of one kind, no condition affects only some of them, every switch looks the same to all, and
// every collective is the same everywhere (Schedule::same_everywhere). The order in which
// simultaneous messages are served may still break the symmetry. That is watched (ties.h): if the
// order matters, the run is repeated with all workers.

#include <memory>
#include <string>

#include "core/scenario/scenario.h"

namespace tutti::sim {

struct Folding {
  /// One worker, and what it does. Null: workers are not alike. Refers to nothing of the original.
  std::shared_ptr<const core::Scenario> scenario;
  std::string why_not;  ///< in words, if they are not
};

/// Cost: that of a plan, whatever the number of workers.
Folding fold(const core::Scenario& scenario);

}  // namespace tutti::sim
