#pragma once

#include "core/cluster/cluster.h"
#include "core/strategy/strategy.h"
#include "core/text/fields.h"

namespace tutti::proto {
class Strategy;
}

namespace tutti::core {

/// It is BytePS whole, with its servers, and not its partitions alone by some algorithm.
bool is_byteps(const proto::Strategy& strategy);

/// Complains of fields beside it that contradict it.
void check_byteps(const proto::Strategy& strategy, Fields& fields);

/// Makes `strategy` what BytePS is on `cluster`. ERRORS (complaints, at the field): clusters that it does not work on.
void lower_byteps(const proto::Strategy& message, const Cluster& cluster, Fields& fields, Strategy& strategy);

}  // namespace tutti::core
