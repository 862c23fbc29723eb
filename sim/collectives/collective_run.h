#pragma once

#include <vector>

#include "core/network/path.h"
#include "core/strategy/collective.h"
#include "sim/engine/causal_chain.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// The result of one collective that runs alone on its cluster.
struct CollectiveRun {
  core::Time end;                    ///< time at which the last rank completes; the clock starts at
                                     ///< 0
  std::vector<core::Time> rank_end;  ///< for each rank, the time at which it completes
  CausalChain causal_chain;          ///< the causal chain of the rank that completes last
  std::int64_t steps = 0;            ///< number of schedule steps executed, over all lanes
  std::int64_t events = 0;
  LinkLoads loads;
};

/// Runs a single collective, on the same engine as in a run of a whole scenario
/// (collective_engines.h). Rank r starts at `start[r]`; if `start` is empty, all ranks start at 0.
/// If `keep_causal_chain` is false, the result has no causal chain, which makes the run faster.
/// REQUIRES: the schedule is sound (core::check). A deadlock aborts the program.
CollectiveRun run_alone(const core::Collective& collective, core::NetworkModel model,
                        const std::vector<core::Time>& start = {}, bool keep_causal_chain = true);

}  // namespace tutti::sim
