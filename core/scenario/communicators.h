#pragma once

#include <vector>

#include "core/cluster/cluster.h"
#include "core/scenario/communicators_reader.h"
#include "core/text/places.h"

namespace tutti::core {

/// Communicators on this cluster, with the defaults that come from the strategy. ERRORS
/// (complaints): groups that replicas cannot be cut into; algorithms that do not work in groups.
std::vector<Communicator> lower_communicators(const std::vector<WrittenCommunicator>& written,
                                              const Strategy& strategy, const Cluster& cluster,
                                              Complaints& complaints);

}  // namespace tutti::core
