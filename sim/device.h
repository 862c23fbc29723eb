#pragma once

#include <map>

#include "core/cluster/cluster.h"
#include "sim/server.h"

namespace tutti::sim {

/// Memory operations of devices: reductions and copies, served by as many at a time as the device has threads, each at
/// its part of the device's rate. Devices appear when they are first used.
class Devices {
 public:
  explicit Devices(const core::Cluster& cluster) : cluster_(cluster) {}

  /// Adds `operands` ranges of `bytes` each: operands - 1 additions.
  Server::Service reduce(core::PartId device, core::Bytes bytes, std::int64_t operands, core::Time now) {
    const core::DeviceRates& rates = cluster_.part(device).device;
    return serve(device, operands - 1, bytes, rates.reduce, rates.threads, now);
  }
  Server::Service copy(core::PartId device, core::Bytes bytes, core::Time now) {
    const core::DeviceRates& rates = cluster_.part(device).device;
    return serve(device, 1, bytes, rates.copy, rates.threads, now);
  }

 private:
  Server::Service serve(core::PartId device, std::int64_t times, core::Bytes bytes, core::Bandwidth rate, int threads,
                        core::Time now) {
    const core::Bandwidth share(std::max<std::int64_t>(1, rate.count() / threads));
    return pools_.try_emplace(device, threads).first->second.serve(now, core::transfer_time(times, bytes, share));
  }

  const core::Cluster& cluster_;
  std::map<core::PartId, ServerPool> pools_;
};

}  // namespace tutti::sim
