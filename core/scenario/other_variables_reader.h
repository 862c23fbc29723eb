#pragma once

#include "core/text/fields.h"
#include "core/workload/workload.h"

namespace tutti::proto {
class Workload;
}

namespace tutti::core {

// Readers for the workload's sparse gradients and for variables with separate values on each
// replica.

/// Sets Variable::slices of the variables of `model` that have sparse gradients. Reports
/// a problem if the gathered rows of all `replicas` replicas have more elements than a variable may
/// have.
void take_sparse_gradients(const proto::Workload& workload, std::int64_t replicas, Model& model,
                           Fields& fields);

/// Reads the variables that have separate values on each replica (workload.on_read).
std::vector<OnReadVariable> on_read_from(const proto::Workload& workload, Fields& fields);

}  // namespace tutti::core
