#pragma once

#include <string>

#include "core/scenario/library.h"
#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// The first stage: text to values. Fills in everything of the scenario that is written down
/// (cluster, workload, run, and the strategy as far as it depends on neither), and where it stands.
/// What is wrong goes to the problems. False if the text ends too early to say anything about what
/// is in it.
bool read(const std::string& text, const Library& library, WrittenScenario& written);

}  // namespace tutti::core
