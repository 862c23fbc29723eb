#pragma once

#include <vector>

#include "core/network/path.h"
#include "core/strategy/collective.h"
#include "sim/engine/causal_chain.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// The result of one collective, alone on its cluster.
struct CollectiveRun {
  core::Time end;                    ///< when the last rank is done; the clock starts at 0
  std::vector<core::Time> rank_end;  ///< by rank: when it is done
  CausalChain causal_chain;          ///< the causal chain of the last rank
  std::int64_t steps = 0;            ///< number of schedule steps executed, over all lanes
  std::int64_t events = 0;
  LinkLoads loads;
};

/// Runs `collective` with rank r starting at `start[r]` (all at 0 if `start` is empty), on the
/// engine that executes it in a run (collective_engines.h). With `keep_causal_chain` false the
/// critical path is not followed, which is faster. REQUIRES: the schedule is sound (core::check); a
/// deadlock is a failed check.
CollectiveRun run_alone(const core::Collective& collective, core::NetworkModel model,
                        const std::vector<core::Time>& start = {}, bool keep_causal_chain = true);

}  // namespace tutti::sim
