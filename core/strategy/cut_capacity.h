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

/// Returns the time that `times` × `bytes` need to cross the cut, without latency, rounded up to
/// whole picoseconds.
Time time_for(Bytes bytes, std::int64_t times, const Capacity& capacity);

/// Returns the total capacity of the links that leave a part of the machine (`leaving`), or of the
/// links that enter it.
Capacity links_of(const Machine& machine, int part, bool leaving);

/// Returns the total capacity of a worker's network cards.
Capacity ports_of(const Cluster& cluster, const Machine& machine);

}  // namespace tutti::core
