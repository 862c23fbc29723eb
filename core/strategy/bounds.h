#pragma once

#include <string>

#include "core/cluster/cluster.h"
#include "core/network/model.h"
#include "core/workload/workload.h"

namespace tutti::core {

/// A time that nothing can beat, and what sets it.
struct Bound {
  Time time;
  std::string reason;
  Time latency{};  ///< of an all-reduce: the part of `time` that no bandwidth shortens
};

/// The least time in which `bytes` can be all-reduced over the replicas of `cluster`, whatever the algorithm. The
/// largest of several cut bounds, each plus the least latency across its cut:
/// - every replica's device must send and receive all N bytes at least once: N / what its links carry;
/// - to sum m contributions and tell m the result takes 2(m - 1) transfers of every element, helpers or not, so
///   2(m - 1)N / (what all devices, helping CPUs included, can send). This is 2(n - 1)/n · N/B for n alike devices.
///   It does not hold where a switch adds, and is left out there;
/// - the same two for whole workers and what their network cards carry, and for all workers of a leaf of a fat tree or a
///   group of a dragonfly and what joins it to the others; not under `ideal`, which knows nothing between the cards.
/// `network_adds`: switches between workers add, too (SHARP); then no count of transfers holds, but that of one cut's own.
/// SOURCE: Patarasuk & Yuan, "Bandwidth optimal all-reduce", JPDC 2009, theorem 1; the rest follows the same counting.
Bound all_reduce_bound(const Cluster& cluster, Bytes bytes, NetworkModel model = NetworkModel::kFifo,
                       bool network_adds = false);

/// The least time of a training step: all computation, or the time until some gradients are ready plus the bound for
/// those and all that come later. Where workers compute at different speeds, a cut through one device or worker waits
/// for the gradients that must pass it; one through all of them only for the first that are ready, since those may be
/// summed among themselves. `compute_faster_ppm`: by how much replicas may compute faster than stated (jitter).
Bound step_bound(const Cluster& cluster, const Workload& workload, std::int64_t compute_faster_ppm,
                 NetworkModel model = NetworkModel::kFifo, bool network_adds = false);

}  // namespace tutti::core
