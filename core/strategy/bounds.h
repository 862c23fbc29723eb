#pragma once

#include <string>

#include "core/cluster/cluster.h"
#include "core/network/model.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// A lower bound on a time, and the reason for it.
struct Bound {
  Time time;
  std::string reason;
  Time latency{};  ///< for an all-reduce: the part of `time` that does not depend on bandwidth
};

/// Returns a lower bound on the time to all-reduce `bytes` over the replicas of `cluster`, for any
/// algorithm. It is the largest of several cut bounds, each plus the least latency across its cut:
/// - every replica's device must send and receive all N bytes at least once: N / the bandwidth of
///   its links;
/// - summing m contributions and distributing the result to m takes 2(m - 1) transfers of every
///   element, with or without helpers, so 2(m - 1)N / the send bandwidth of all devices, helping
///   CPUs included. This is 2(n - 1)/n · N/B for n identical devices. It does not hold if a switch
///   reduces, and is then omitted;
/// - the same two for whole workers and their network cards, and for all workers of a leaf of a fat
///   tree or a group of a dragonfly and its outward links; not with `ideal`, which does not model
///   anything between the cards.
/// `network_adds`: switches between workers reduce too (SHARP); then only the first bound of each
/// cut holds, not those that count transfers.
/// SOURCE: Patarasuk & Yuan, "Bandwidth optimal all-reduce", JPDC 2009, theorem 1; the rest follows
/// the same counting.
Bound all_reduce_bound(const Cluster& cluster, Bytes bytes,
                       NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

/// Returns a lower bound on a training step: the time of all computation, or the time until some
/// gradients are ready plus the bound for those and all later ones. If workers compute at different
/// speeds, a cut through one device or worker waits for the gradients that must cross it; a cut
/// through all of them waits only for the first that are ready, since those may be summed locally.
/// `compute_faster_ppm`: the maximum speed-up of replicas through jitter.
Bound step_bound(const Cluster& cluster, const Workload& workload, std::int64_t compute_faster_ppm,
                 NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

}  // namespace tutti::core
