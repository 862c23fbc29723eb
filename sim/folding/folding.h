#pragma once

// A scenario costs what it is different in: where no worker can tell where it stands, they all do the same at the same
// times, and one of them is simulated in place of all (docs/scale.md, decision 23). That holds if workers are of one kind
// and nothing happens to some of them only; if every switch is the same to all; and if every collective is the same
// everywhere (Schedule::same_everywhere). What may still tell workers apart is who is served first of those who come at
// the same time: that is watched (ties.h), and a run in which it matters is done again with all workers.

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
