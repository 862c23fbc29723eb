#pragma once

#include "core/cluster/cluster.h"
#include "core/strategy/strategy.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// Complains of fields beside a strategy of tf.distribute, or a mode of tf_cnn_benchmarks, that contradict it.
void check_distribution(const proto::Strategy& strategy, Fields& fields);

/// Makes `strategy` what the strategy of tf.distribute or the mode of tf_cnn_benchmarks is on `cluster`.
/// ERRORS (complaints, at the field): clusters that it does not work on, as TensorFlow says it, with the remedy.
void lower_distribution(const proto::Strategy& message, const Cluster& cluster, Fields& fields, Strategy& strategy);

/// Reads reduce_to_device and drop_odd_device. REQUIRES: `strategy` has its algorithm.
void take_reduce_to_device(const proto::Strategy& message, const Cluster& cluster, Fields& fields, Strategy& strategy);

}  // namespace tutti::core
