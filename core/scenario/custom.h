#pragma once

#include <string>

#include "core/base/error.h"
#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// Reads the file of strategy.custom, if the strategy has one. Returns false if it is unusable; the
/// problems state why.
bool read_custom(WrittenScenario& written, const Library& library);
/// Compiles it for the cluster; errors go to the problems, with locations in its file. REQUIRES:
/// the strategy and the cluster are known.
void lower_custom(WrittenScenario& written);

/// Adds a note to the plan for settings in its file that the simulation ignores.
void note_custom(Scenario& scenario);

/// Returns a description such as "ring of ring.tutti-algorithm, slices 8".
std::string describe(const CustomChoice& custom);

enum class CustomProof {
  kQuick,  ///< proves what the checker can prove in about a second; a simulation finds other errors
  kWhole,  ///< a schedule that is too large to prove is an error, because real runs use real memory
};
/// Proves the schedules of a custom algorithm correct, with a reduced number of elements. Executors
/// call it first, because they rely on correct schedules. ERRORS: errors of the schedules, with
/// locations in the file.
Expected<void> prove_custom(const Scenario& scenario, CustomProof proof);

/// Returns the error for a run whose schedules deadlock, if they were too large for prove_custom().
Error never_ends(const Scenario& scenario);

}  // namespace tutti::core
