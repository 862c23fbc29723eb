#pragma once

#include <string>

#include "core/base/error.h"
#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// Reads the file of strategy.custom, if the strategy has one. Returns false and adds problems if
/// the file is invalid.
bool read_custom(WrittenScenario& written, const Library& library);
/// Compiles the custom algorithm for the cluster. Adds problems, with locations in the algorithm's
/// file.
/// REQUIRES: the strategy and the cluster are known.
void lower_custom(WrittenScenario& written);

/// Adds a note to the plan about features of the algorithm's file that the simulation does not
/// model exactly (CustomAlgorithm::note).
void note_custom(Scenario& scenario);

/// Describes a custom algorithm: "ring of ring.tutti-algorithm, slices 8".
std::string describe(const CustomChoice& custom);

enum class CustomProof {
  kQuick,  ///< checks schedules for about one second; a simulation detects the remaining errors
  kWhole,  ///< checks all schedules; a schedule that is too large to check is an error, because a
           ///< wrong schedule could corrupt memory in a real run
};
/// Proves that the schedules of a custom algorithm are correct, with a reduced number of elements.
/// Executors call this function before a run, because they rely on correct schedules. ERRORS: a
/// schedule is wrong (with locations in the algorithm's file).
Expected<void> prove_custom(const Scenario& scenario, CustomProof proof);

/// Returns the error for a simulation that deadlocks. A deadlock is possible only if the schedules
/// were too large for prove_custom().
Error never_ends(const Scenario& scenario);

}  // namespace tutti::core
