#pragma once

#include <vector>

#include "core/cluster/cluster.h"
#include "core/scenario/communicators_reader.h"
#include "core/text/places.h"

namespace tutti::core {

/// Resolves communicators for this cluster, with the defaults of the strategy. ERRORS (complaints):
/// replicas cannot be divided into such groups; algorithms that do not work in groups.
std::vector<Communicator> lower_communicators(const std::vector<WrittenCommunicator>& written,
                                              const Strategy& strategy, const Cluster& cluster,
                                              Complaints& complaints);

}  // namespace tutti::core
