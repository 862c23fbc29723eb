#pragma once

#include "core/schedule/contract.h"
#include "core/strategy/bounds.h"

namespace tutti::core {

/// Returns a lower bound on the time of a collective on `bytes` bytes (Collective::bytes) over the
/// replicas of `cluster`, for any algorithm. The bound is the maximum over several cuts: the time
/// in which the bytes that must cross the cut can cross it at its bandwidth, plus the minimum
/// latency across the cut. There is a cut around each device, around the network cards of each
/// worker, and around each leaf of a fat tree or group of a dragonfly. Copies of the same data are
/// counted once, because a switch may multicast. The contributions of one side of the cut are
/// counted as one sum, because a switch may reduce. For an all-reduce, this function returns
/// all_reduce_bound(), which counts more transfers if switches do not reduce.
Bound collective_bound(const Cluster& cluster, CollectiveKind kind, Rank root, Bytes bytes,
                       NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

}  // namespace tutti::core
