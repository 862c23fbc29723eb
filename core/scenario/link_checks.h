#pragma once

#include "core/scenario/written_scenario.h"

namespace tutti::core {

/// Checks the links for the strategy's messages. There must be a route from every sender to every
/// receiver; because the workers of a group are identical, only the first two of each group are
/// checked. Every link of a machine, every network card and the network's ports must be able to
/// carry the gradients within a day. The limit of a day detects a bandwidth in a wrong unit.
/// Problems are reported at the location of the cluster.
void check_links(WrittenScenario& written);

}  // namespace tutti::core
