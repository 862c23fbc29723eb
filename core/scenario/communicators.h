#pragma once

#include <vector>

#include "core/cluster/cluster.h"
#include "core/scenario/communicators_reader.h"
#include "core/text/places.h"

namespace tutti::core {

/// Returns the communicators for this cluster. Values that the scenario does not set for a
/// communicator are those of the strategy. ERRORS (complaints): the replicas cannot be divided into
/// groups of this size and stride; an algorithm does not support groups.
std::vector<Communicator> lower_communicators(const std::vector<WrittenCommunicator>& written,
                                              const Strategy& strategy, const Cluster& cluster,
                                              Complaints& complaints);

}  // namespace tutti::core
