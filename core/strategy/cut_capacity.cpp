#include "core/strategy/cut_capacity.h"

namespace tutti::core {

Time time_for(Bytes bytes, std::int64_t times, const Capacity& capacity) {
  const Wide work = static_cast<Wide>(bytes.count()) * static_cast<Wide>(times);
  // Whole seconds and the rest are computed separately, so that no product exceeds 128 bits.
  const Wide seconds = work / capacity.bytes_per_second;
  if (seconds > static_cast<Wide>(kLongestDuration.count() / kPicosecondsPerSecond))
    return kLongestDuration;
  const Wide rest = (work % capacity.bytes_per_second) * kPicosecondsPerSecond;
  const Wide ps = seconds * kPicosecondsPerSecond +
                  (rest + capacity.bytes_per_second - 1) / capacity.bytes_per_second;
  return std::min(kLongestDuration, Time(static_cast<std::int64_t>(ps)));
}

Capacity links_of(const Machine& machine, int part, bool leaving) {
  Capacity capacity;
  for (const MachineLink& link : machine.links()) {
    if ((leaving ? link.from : link.to) == part) capacity.add(link.bandwidth, link.latency);
  }
  return capacity;
}

Capacity ports_of(const Cluster& cluster, const Machine& machine) {
  Capacity capacity;
  for (const int nic : machine.nics()) {
    Bandwidth bandwidth = machine.parts()[nic].nic;
    if (cluster.network()->port_bandwidth)
      bandwidth = std::min(bandwidth, *cluster.network()->port_bandwidth);
    capacity.add(bandwidth, cluster.network()->latency);
  }
  return capacity;
}

}  // namespace tutti::core
