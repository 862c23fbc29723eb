#pragma once

#include <vector>

#include "core/lowering/plan.h"

namespace tutti::core {

/// Adds the exchanges of all `communicators` to `plan`. An exchange is a collective of replicas
/// during computation, as in tensor parallelism.
/// REQUIRES: problems_of() of every communicator is empty; `cluster` outlives the plan.
void add_exchanges(const std::vector<Communicator>& communicators, const Cluster& cluster,
                   Plan& plan);

}  // namespace tutti::core
