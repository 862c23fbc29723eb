#pragma once

#include "core/cluster/host_transport.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// Returns the library that sends messages between hosts on a TCP network. For algorithm nccl, the
/// library is NCCL; otherwise, it is the library of the strategy's framework. If the strategy has
/// no framework, the library is gRPC, which TensorFlow uses.
HostLibrary host_library_of(const Strategy& strategy);

}  // namespace tutti::core
