#pragma once

#include "core/cluster/host_transport.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// Returns the library that moves the strategy's messages between hosts on a TCP network: NCCL for
/// its own collectives, otherwise that of its framework. Without a framework it is TensorFlow's,
/// gRPC.
HostLibrary host_library_of(const Strategy& strategy);

}  // namespace tutti::core
