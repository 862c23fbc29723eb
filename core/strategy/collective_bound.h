#pragma once

#include "core/schedule/contract.h"
#include "core/strategy/bounds.h"

namespace tutti::core {

/// Returns a lower bound on the time of a collective on `bytes` bytes (Collective::bytes) over the
/// replicas of `cluster`, for any algorithm. The bound is the maximum over several cuts: the bytes
/// that must cross the cut, divided by its bandwidth, plus the minimum latency across it. There is
/// a cut around each device, around the network cards of each worker, and around each leaf of a fat
/// tree or group of a dragonfly. Copies of the same data count once, because a switch may
/// multicast; the contributions of one side of the cut count as one sum, because a switch may
/// reduce. For an all-reduce, this is all_reduce_bound(), which counts more transfers if switches
/// do not reduce.
Bound collective_bound(const Cluster& cluster, CollectiveKind kind, Rank root, Bytes bytes,
                       NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

}  // namespace tutti::core
