#pragma once

#include <string>

#include "core/base/error.h"
#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// Reads the algorithm's file if the strategy has the field `custom`, which names this file. If the
/// file is invalid, adds problems and returns false.
bool read_custom(WrittenScenario& written, const Library& library);
/// Compiles the algorithm of strategy.custom for the cluster. Problems have locations in the
/// algorithm's file.
/// REQUIRES: the strategy and the cluster have been read.
void lower_custom(WrittenScenario& written);

/// Adds a note to the plan if the simulation does not model all features of the algorithm's file
/// exactly (CustomAlgorithm::note).
void note_custom(Scenario& scenario);

/// Describes a custom algorithm, for example "ring of ring.tutti-algorithm, slices 8".
std::string describe(const CustomChoice& custom);

enum class CustomProof {
  kQuick,  ///< checks as many schedules as possible in about a second; the simulation detects
           ///< errors in the other schedules
  kWhole,  ///< checks all schedules, because a wrong schedule could corrupt memory in a real run;
           ///< it is an error if a schedule is too large to check
};
/// Checks that the schedules of a custom algorithm are correct. The check uses fewer elements than
/// the run. Executors rely on correct schedules, so they call this function before a run. ERRORS: a
/// schedule is wrong; the error has a location in the algorithm's file.
Expected<void> prove_custom(const Scenario& scenario, CustomProof proof);

/// Returns the error for a simulation that has ended in a deadlock. A deadlock can only happen if
/// the schedules are too large for prove_custom().
Error never_ends(const Scenario& scenario);

}  // namespace tutti::core
