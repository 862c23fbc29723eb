#pragma once

#include <map>
#include <utility>

#include "core/cluster/cluster.h"
#include "sim/server.h"
#include "sim/slowness.h"

namespace tutti::sim {

/// Memory operations of devices: reductions and copies, served by as many at a time as the device has threads, each at
/// its part of the device's rate. Devices appear when they are first used.
class Devices {
 public:
  explicit Devices(const core::Cluster& cluster, Slowness slowness = {})
      : cluster_(cluster), slowness_(std::move(slowness)) {}

  [[nodiscard]] const Slowness& slowness() const { return slowness_; }

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
    const core::Time duration = slowness_.longer(device, core::transfer_time(times, bytes, share), now);
    return pools_.try_emplace(device, threads).first->second.serve(now, duration);
  }

  const core::Cluster& cluster_;
  Slowness slowness_;
  std::map<core::PartId, ServerPool> pools_;
};

}  // namespace tutti::sim
