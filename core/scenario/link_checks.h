#pragma once

#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// Checks the links for the strategy's messages: there must be a route from every sender to every
/// receiver, and every link must be able to carry the gradients within a day. The limit of a day
/// detects a bandwidth in a wrong unit. Problems are reported at the location of the cluster.
void check_links(WrittenScenario& written);

}  // namespace tutti::core
