#pragma once

#include <string>

#include "core/scenario/library.h"
#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// The first stage of reading a scenario: parses the text and reads the values. Sets the cluster,
/// the workload, the run options, the parts of the strategy that do not depend on cluster or
/// workload, and the locations of all fields. Adds problems. Returns false if so little of the text
/// could be parsed that its content cannot be checked.
bool read(const std::string& text, const Library& library, WrittenScenario& written);

}  // namespace tutti::core
