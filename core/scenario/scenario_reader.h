#pragma once

#include <string>

#include "core/scenario/library.h"
#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// The first stage of reading a scenario: parses the text to values. Sets the cluster, the
/// workload, the run options, the parts of the strategy that do not depend on cluster and workload,
/// and the locations of all fields. Adds problems. Returns false if too little of the text could be
/// parsed to check its content.
bool read(const std::string& text, const Library& library, WrittenScenario& written);

}  // namespace tutti::core
