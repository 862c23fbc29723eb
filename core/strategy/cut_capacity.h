#pragma once

#include <algorithm>
#include <cstdint>

#include "core/cluster/cluster.h"

namespace tutti::core {

/// The total bandwidth across a cut, and the minimum latency across it.
struct Capacity {
  Wide bytes_per_second = 0;
  Time latency = kNever;

  void add(Bandwidth bandwidth, Time link_latency) {
    bytes_per_second += static_cast<Wide>(bandwidth.count());
    latency = std::min(latency, link_latency);
  }
  void add(const Capacity& more, std::int64_t times) {
    bytes_per_second += static_cast<Wide>(times) * more.bytes_per_second;
    latency = std::min(latency, more.latency);
  }
};

/// Returns the time in which `times` × `bytes` can cross the cut, rounded up to picoseconds.
/// Latency is not included.
Time time_for(Bytes bytes, std::int64_t times, const Capacity& capacity);

/// Returns the total bandwidth of the links that lead out of a part of the machine (if `leaving` is
/// true) or into this part (if `leaving` is false).
Capacity links_of(const Machine& machine, int part, bool leaving);

/// Returns the total bandwidth of a worker's network cards.
Capacity ports_of(const Cluster& cluster, const Machine& machine);

}  // namespace tutti::core
