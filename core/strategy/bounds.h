#pragma once

#include <string>

#include "core/cluster/cluster.h"
#include "core/network/model.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// A lower bound on a time, with the reason for it.
struct Bound {
  Time time;
  std::string reason;
  Time latency{};  ///< the part of `time` that does not depend on bandwidth; only for all-reduces
};

/// Returns a lower bound on the time of an all-reduce of `bytes` over the replicas of `cluster`,
/// whatever the algorithm. The result is the largest of the following bounds. Each bound belongs to
/// a cut, which is a set of links that data must cross, and includes the minimum latency of these
/// links.
///
/// Let N be the number of bytes, and n the number of replicas. First, the device of each replica
/// must send at least N bytes and receive at least N bytes. The transfer takes N / (bandwidth of
/// the device's links).
///
/// Second, all devices together must send every element 2(n - 1) times: n contributions have to be
/// summed, and n devices need the result. Helpers (devices without a replica that add up data) do
/// not reduce this number of sends. All sends together take 2(n - 1)N / (total send bandwidth of
/// all devices, including CPUs that help). For n identical devices of bandwidth B, the bound is
/// 2(n - 1)/n · N/B. The second bound does not hold for clusters with switches that can reduce, so
/// it is left out there.
///
/// The first and the second bound also hold for workers instead of devices, with the bandwidth of
/// their network cards. The first and the second bound also hold for the leaves of a fat tree and
/// for the groups of a dragonfly, with the bandwidth of the links that lead out of them. In the
/// network model `ideal`, there are no such links, so these bounds are left out.
///
/// If `network_adds` is true, switches between workers reduce (SHARP). With SHARP, only the first
/// bound holds, for each device and each network card.
/// SOURCE: Patarasuk & Yuan, "Bandwidth optimal all-reduce", JPDC 2009, theorem 1. The bounds that
/// are not in the paper count transfers in the same way.
Bound all_reduce_bound(const Cluster& cluster, Bytes bytes,
                       NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

/// Returns the bound of all_reduce_bound() for algorithms that only send messages. For such
/// algorithms, the second bound above also holds on clusters with switches that can reduce.
Bound all_reduce_bound_of_messages(const Cluster& cluster, Bytes bytes,
                                   NetworkModel model = NetworkModel::kFifo);

/// Returns a lower bound on the time of a training step. The bound is the maximum of two kinds of
/// times: the time of all computation, and, for every gradient, the time until the gradient is
/// ready plus the bound on reducing this and all later gradients. `compute_faster_ppm` is the
/// maximum speed-up of replicas by jitter, in millionths.
///
/// If workers compute at different speeds, a gradient is ready at different times on different
/// replicas. Each cut uses one of these times:
/// - data that leaves a device: the ready time on this device
/// - data that enters a device: the latest ready time on the other replicas
/// - the network cards of a worker, and the links out of a leaf or group: the latest ready time on
///   all replicas
/// - all devices or all workers together: the earliest ready time on all replicas, because replicas
///   that are ready can already exchange data
Bound step_bound(const Cluster& cluster, const Workload& workload, std::int64_t compute_faster_ppm,
                 NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

}  // namespace tutti::core
