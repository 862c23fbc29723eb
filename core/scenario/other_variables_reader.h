#pragma once

#include "core/text/fields.h"
#include "core/workload/workload.h"

namespace tutti::proto {
class Workload;
}

namespace tutti::core {

// Readers for the workload's sparse gradients and for variables with separate values on each
// replica.

/// Marks the variables of `model` with sparse gradients. Sets the number of rows for each of
/// `replicas` replicas.
void take_sparse_gradients(const proto::Workload& workload, std::int64_t replicas, Model& model,
                           Fields& fields);

/// Reads the variables that have separate values on each replica (workload.on_read).
std::vector<OnReadVariable> on_read_from(const proto::Workload& workload, Fields& fields);

}  // namespace tutti::core
