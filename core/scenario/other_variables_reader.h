#pragma once

#include "core/text/fields.h"
#include "core/workload/workload.h"

namespace tutti::proto {
class Workload;
}

namespace tutti::core {

// Readers for settings of the workload's variables other than shapes and times.

/// Marks the variables of `model` whose gradients are sparse, and sets the number of rows on each
/// of `replicas` replicas.
void take_sparse_gradients(const proto::Workload& workload, std::int64_t replicas, Model& model,
                           Fields& fields);

/// Reads the variables whose values each replica keeps separately (workload.on_read).
std::vector<OnReadVariable> on_read_from(const proto::Workload& workload, Fields& fields);

}  // namespace tutti::core
