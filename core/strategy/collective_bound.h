#pragma once

#include "core/schedule/contract.h"
#include "core/strategy/bounds.h"

namespace tutti::core {

/// Returns a lower bound on the time of a collective on `bytes` bytes (Collective::bytes) over the
/// replicas of `cluster`, for any algorithm: the largest over cuts of what has to cross, divided by
/// what the cut carries, plus the least latency across it. Cuts are those around each device,
/// around the network cards of each worker, and around each leaf of a fat tree or group of a
/// dragonfly. Across a cut, copies count once (a switch may multicast) and contributions of one
/// side are summed before (a switch may reduce), so that the bound holds whatever switches do. An
/// all-reduce has all_reduce_bound(), which counts more where switches do not reduce.
Bound collective_bound(const Cluster& cluster, CollectiveKind kind, Rank root, Bytes bytes,
                       NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

}  // namespace tutti::core
