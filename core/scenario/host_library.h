#pragma once

#include "core/cluster/host_transport.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// Returns the library that moves the strategy's messages between hosts on a TCP network: NCCL for
/// algorithm nccl, otherwise the library of the strategy's framework. If the strategy has no
/// framework, the library is gRPC, as in TensorFlow.
HostLibrary host_library_of(const Strategy& strategy);

}  // namespace tutti::core
