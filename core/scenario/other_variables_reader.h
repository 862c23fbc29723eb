#pragma once

#include "core/text/fields.h"
#include "core/workload/workload.h"

namespace tutti::proto {
class Workload;
}

namespace tutti::core {

// Reads the workload's settings for variables other than shapes and times.

/// Marks the variables of `model` with sparse gradients, of which `replicas` replicas have some
/// rows each.
void take_sparse_gradients(const proto::Workload& workload, std::int64_t replicas, Model& model,
                           Fields& fields);

/// Reads the variables that replicas keep by themselves.
std::vector<OnReadVariable> on_read_from(const proto::Workload& workload, Fields& fields);

}  // namespace tutti::core
