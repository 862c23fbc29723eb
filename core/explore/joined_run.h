#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/explore/sweep_store.h"

namespace tutti::core {

/// A measured run, and the point of a sweep to which it belongs.
struct JoinedRun {
  std::int64_t point = 0;
  Time step;           ///< step time in the steady state
  std::string source;  ///< file name of the timeline
  std::string said;    ///< the program that executed the run, such as "real, tcp, Tutti 0.1.0"
};

/// Returns the point whose scenario has this text: it equals the sweep's with that point's values,
/// except for name, description and settings of the run (steps, seed, …). ERRORS (requests): it
/// differs in another field (which is named); a value that the sweep does not have.
Expected<std::int64_t> point_of(const SweepInfo& info, const Space& space,
                                const std::string& scenario_text);

/// Reads a measured run from a timeline file. ERRORS: it cannot be read; no step has ended; as
/// point_of().
Expected<JoinedRun> joined_run(const SweepInfo& info, const Space& space,
                               const std::string& timeline);

}  // namespace tutti::core
