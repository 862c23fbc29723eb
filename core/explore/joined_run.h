#pragma once

#include <cstdint>
#include <string>

#include "core/base/error.h"
#include "core/explore/sweep_store.h"

namespace tutti::core {

/// A measured run of a scenario, and the point of a sweep that has the same scenario.
struct JoinedRun {
  std::int64_t point = 0;
  Time step;            ///< step time in the steady state
  std::string source;   ///< file name of the timeline
  std::string program;  ///< program that executed the run: "real, tcp, Tutti 0.1.0"
};

/// Returns the point of a sweep that has this scenario. The scenario's name, description and run
/// settings (steps, seed, …) may differ from the sweep's scenario. All other fields must equal
/// those of the point's scenario.
/// ERRORS (requests): the scenario differs from the sweep's scenario in a field that the sweep does
/// not vary (the error names the field); a swept field has a value that occurs in no point of the
/// sweep.
Expected<std::int64_t> point_of(const SweepInfo& info, const Space& space,
                                const std::string& scenario_text);

/// Reads a measured run from a timeline file.
/// ERRORS: the file cannot be read; no step has ended; as for point_of().
Expected<JoinedRun> joined_run(const SweepInfo& info, const Space& space,
                               const std::string& timeline);

}  // namespace tutti::core
