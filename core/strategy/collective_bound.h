#pragma once

#include "core/schedule/contract.h"
#include "core/strategy/bounds.h"

namespace tutti::core {

/// Returns a lower bound on the time of a collective of `bytes` bytes (Collective::bytes) over the
/// replicas of `cluster`, whatever the algorithm. The result is the largest of the bounds of
/// several cuts. The bound of a cut is the time in which the necessary bytes can cross it at its
/// bandwidth, plus the minimum latency across the cut. There is a cut around each device, at the
/// network cards of each worker, and around each leaf of a fat tree or group of a dragonfly. Copies
/// of the same data count once, because a switch may multicast. All contributions from one side of
/// a cut count as a single sum, because a switch may reduce. For an all-reduce, the result is that
/// of all_reduce_bound(), which counts more transfers if switches do not reduce.
Bound collective_bound(const Cluster& cluster, CollectiveKind kind, Rank root, Bytes bytes,
                       NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

}  // namespace tutti::core
