#pragma once

#include <vector>

#include "core/cluster/cluster.h"
#include "core/scenario/communicators_reader.h"
#include "core/text/places.h"

namespace tutti::core {

/// Returns the communicators for this cluster. A communicator with the strategy's algorithm, which
/// is the default, has the settings of the strategy. A communicator with another algorithm has the
/// defaults of this algorithm. ERRORS (complaints): the replicas cannot be divided into groups of a
/// communicator's size and stride; an algorithm does not support groups.
std::vector<Communicator> lower_communicators(const std::vector<WrittenCommunicator>& written,
                                              const Strategy& strategy, const Cluster& cluster,
                                              Complaints& complaints);

}  // namespace tutti::core
