#pragma once

#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// Checks the cluster's links for the strategy's messages: every sender must reach every receiver,
/// and every link must carry the gradients within a day. The limit of a day detects bandwidths that
/// were written in a wrong unit. Problems have the location of the cluster in the scenario.
void check_links(WrittenScenario& written);

}  // namespace tutti::core
