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
  Time latency{};  ///< the part of `time` that does not depend on bandwidth; only set for
                   ///< all-reduces
};

/// Returns a lower bound on the time of an all-reduce of `bytes` over the replicas of `cluster`,
/// for any algorithm. The bound is the largest of several cut bounds, each plus the minimum latency
/// across its cut.
///
/// Let N be the number of bytes and n the number of replicas. First, every replica's device must
/// send and receive N bytes at least once, which takes N / (bandwidth of its links).
///
/// Second, all devices together must send every element 2(n - 1) times to sum n contributions and
/// to distribute the result to n devices, with or without helpers. These transfers take 2(n - 1)N /
/// (total send bandwidth of all devices, including CPUs that help), which is 2(n - 1)/n · N/B for n
/// identical devices of bandwidth B. The second bound does not hold if a switch reduces, so it is
/// omitted for clusters with such switches.
///
/// The first and the second bound also apply to workers and their network cards. The first and the
/// second bound also apply to a leaf of a fat tree and to a group of a dragonfly, with all their
/// workers and their outward links. The network model `ideal` has no links between cards, so the
/// bounds of leaves and groups are omitted.
///
/// If `network_adds` is true, switches between workers reduce (SHARP), and only the bound of N
/// bytes per device or network card applies.
/// SOURCE: Patarasuk & Yuan, "Bandwidth optimal all-reduce", JPDC 2009, theorem 1; the bounds that
/// this paper does not contain count transfers in the same way.
Bound all_reduce_bound(const Cluster& cluster, Bytes bytes,
                       NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

/// Returns the bound of all_reduce_bound() for algorithms that only send messages: the second bound
/// above also holds if the cluster's switches could reduce.
Bound all_reduce_bound_of_messages(const Cluster& cluster, Bytes bytes,
                                   NetworkModel model = NetworkModel::kFifo);

/// Returns a lower bound on the time of a training step. The bound is the maximum of two kinds of
/// times: the time of all computation, and, for every gradient, the time until the gradient is
/// ready plus the bound on reducing this and all later gradients. If workers compute at different
/// speeds, the bound of a cut around one device or worker uses the ready times of the gradients
/// that must cross the cut. The bound of a cut between all devices or workers uses the earliest
/// ready times, because these gradients may be summed locally. `compute_faster_ppm` is the maximum
/// speed-up of replicas by jitter, in millionths.
Bound step_bound(const Cluster& cluster, const Workload& workload, std::int64_t compute_faster_ppm,
                 NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

}  // namespace tutti::core
