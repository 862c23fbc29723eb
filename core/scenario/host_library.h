#pragma once

#include "core/cluster/host_transport.h"
#include "core/strategy/strategy.h"

namespace tutti::core {

/// Returns what moves the strategy's messages between hosts on a TCP network: NCCL its own, else
/// the library that its framework uses. Strategies without a framework are TensorFlow's, whose
/// messages travel over gRPC.
HostLibrary host_library_of(const Strategy& strategy);

}  // namespace tutti::core
