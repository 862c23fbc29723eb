#pragma once

#include <string>

#include "core/base/error.h"
#include "core/scenario/library.h"
#include "core/scenario/scenario.h"
#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// Reads the file of strategy.custom, if the strategy has one. False if it cannot be used; the
/// problems say why.
bool read_custom(WrittenScenario& written, const Library& library);
/// Compiles it for the cluster; what is wrong with it there goes to the problems, with places in
/// its file. REQUIRES: the strategy and the cluster are known.
void lower_custom(WrittenScenario& written);

/// Adds to the plan's notes what its file says and the simulation does not follow.
void note_custom(Scenario& scenario);

/// "ring of ring.tutti-algorithm, slices 8".
std::string describe(const CustomChoice& custom);

enum class CustomProof {
  kQuick,  ///< as far as the checker comes in about a second; a simulation finds out about the rest
  kWhole,  ///< or it is an error: buffers of real runs are real memory
};
/// Proves the schedules of an algorithm that a file describes, with a few elements in the place of
/// all. Executors call it first: they take schedules for granted. ERRORS: what is wrong with them,
/// with the places in the file.
Expected<void> prove_custom(const Scenario& scenario, CustomProof proof);

/// What to say of a run that stands still because its schedules never end: it was too large for
/// prove_custom().
Error never_ends(const Scenario& scenario);

}  // namespace tutti::core
