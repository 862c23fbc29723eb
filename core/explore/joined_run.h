#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/explore/sweep_store.h"

namespace tutti::core {

/// A run that was measured, at the point of a sweep that it is of.
struct JoinedRun {
  std::int64_t point = 0;
  Time step;           ///< of its steady state
  std::string source;  ///< file of its timeline
  std::string said;    ///< "real, tcp, Tutti 0.1.0": what ran it
};

/// The point whose scenario a text is: it says the same as the sweep's with that point's values, but for its name, its description and
/// what belongs to a run (steps, seed, …).
/// ERRORS (requests): it says something else at another place (which is told); a value that the sweep does not have.
Expected<std::int64_t> point_of(const SweepInfo& info, const Space& space, const std::string& scenario_text);

/// What a timeline's file tells of a point. ERRORS: it cannot be read; no step ended; as point_of().
Expected<JoinedRun> joined_run(const SweepInfo& info, const Space& space, const std::string& timeline);

}  // namespace tutti::core
