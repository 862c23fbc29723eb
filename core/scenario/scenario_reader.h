#pragma once

#include <string>

#include "core/scenario/library.h"
#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// The first stage: parses text to values. Sets all parts of the scenario that are written
/// explicitly (cluster, workload, run, and the strategy as far as it depends on neither), with
/// their locations. Errors go to the problems. Returns false if the text is too incomplete to
/// report anything about its contents.
bool read(const std::string& text, const Library& library, WrittenScenario& written);

}  // namespace tutti::core
