#pragma once

#include <vector>

#include "core/cluster/cluster.h"
#include "core/strategy/communicator.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Scenario;
}

namespace tutti::core {

/// Of a number of proto::Strategy::Collective.
CollectiveKind collective_of(int collective);

/// The communicators of a scenario, with the defaults that come from its strategy. Mistakes go to the fields' problems.
std::vector<Communicator> communicators_from(const proto::Scenario& message, Fields& fields, const Strategy& strategy,
                                             const Cluster& cluster);

}  // namespace tutti::core
