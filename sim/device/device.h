#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/cluster/cluster.h"
#include "sim/device/compute_stream.h"
#include "sim/device/device_faults.h"
#include "sim/device/server.h"

namespace tutti::sim {

/// The memory operations (reductions, copies and updates) of devices. A device with n threads
/// executes up to n operations at the same time, each at 1/n of the device's rate. Devices are
/// created on first use.
class Devices {
 public:
  using Id = std::int32_t;

  explicit Devices(const core::Cluster& cluster, DeviceFaults device_faults = {})
      : cluster_(cluster), device_faults_(std::move(device_faults)) {
    for (const core::WorkerGroup& group : cluster.groups())
      parts_ = std::max(parts_, group.machine->parts().size());
  }

  [[nodiscard]] const DeviceFaults& device_faults() const { return device_faults_; }

  Id id(core::PartId part) {
    const std::size_t place =
        static_cast<std::size_t>(part.worker) * parts_ + static_cast<std::size_t>(part.part);
    if (place >= ids_.size()) ids_.resize(std::max(place + 1, 2 * ids_.size()), kNew);
    if (ids_[place] == kNew) {
      ids_[place] = static_cast<Id>(devices_.size());
      devices_.emplace_back(part, cluster_.part(part).device);
    }
    return ids_[place];
  }

  /// Enables interference: the computation of `stream` and the memory operations of the device then
  /// slow each other down. REQUIRES: the stream outlives this object.
  void share(Id id, ComputeStream& stream) {
    devices_[id].stream = &stream;
    any_shared_ = true;
  }
  [[nodiscard]] bool any_shared() const { return any_shared_; }
  /// Returns the compute stream that was passed to share(); null if share() was not called for the
  /// device.
  [[nodiscard]] ComputeStream* stream(Id id) const { return devices_[id].stream; }

  /// The component that executes a reduction or a copy.
  enum class By : std::uint8_t {
    kDevice,  ///< the device as a whole, with all of its threads
    kKernel,  ///< a kernel on its own multiprocessors; the compute stream counts the bytes that the
              ///< kernel moves
  };

  void visit_state(StateVisitor& visitor) {
    for (Device& device : devices_) {
      device.pool.visit_state(visitor);
      if (device.stream) device.stream->visit_state(visitor);
    }
  }

  /// Reduces `operands` buffers of `bytes` bytes each. A reduction takes operands - 1 additions per
  /// element.
  Server::Service reduce(Id id, core::Bytes bytes, std::int64_t operands, core::Time now,
                         By by = By::kDevice) {
    Device& device = devices_[id];
    if (device.reduce.count() == 0) return {now, now};
    if (bytes != device.known_bytes || operands != device.known_operands) {
      device.known_bytes = bytes;
      device.known_operands = operands;
      device.known_time = core::transfer_time(operands - 1, bytes, device.reduce);
    }
    return serve(device, device.known_time, now, by);
  }
  Server::Service copy(Id id, core::Bytes bytes, core::Time now, By by = By::kDevice) {
    Device& device = devices_[id];
    if (device.copy.count() == 0) return {now, now};
    return serve(device, core::transfer_time(bytes, device.copy), now, by);
  }
  /// Reads or writes a buffer of `bytes` bytes `passes` times.
  Server::Service update(Id id, core::Bytes bytes, std::int64_t passes, core::Time now) {
    Device& device = devices_[id];
    if (device.memory.count() == 0) return {now, now};
    return serve(device, core::transfer_time(passes, bytes, device.memory), now, By::kDevice);
  }

 private:
  struct Device {
    Device(core::PartId p, const core::DeviceRates& rates)
        : part(p),
          memory(share(rates.memory, rates.threads)),
          reduce(share(rates.reduce, rates.threads)),
          copy(share(rates.copy, rates.threads)),
          pool(rates.threads) {}

    /// Returns one thread's share of a rate. A rate of 0 means that operations take no time; a
    /// thread's share of this rate is also 0.
    static core::Bandwidth share(core::Bandwidth rate, int threads) {
      return rate.count() == 0 ? rate
                               : core::Bandwidth(std::max<std::int64_t>(1, rate.count() / threads));
    }

    core::PartId part;
    core::Bandwidth memory, reduce, copy;
    ServerPool pool;
    ComputeStream* stream = nullptr;
    // The last request and its result. The result is reused, because consecutive requests usually
    // have the same size.
    core::Bytes known_bytes{-1};
    std::int64_t known_operands = 0;
    core::Time known_time;
  };

  Server::Service serve(Device& device, core::Time duration, core::Time now, By by) {
    duration = device_faults_.longer(device.part, duration, now);
    if (!device.stream) return device.pool.serve(now, duration);
    const core::Time shared = device.stream->longer(duration, device.pool.busy(now) + 1, now);
    const Server::Service service = device.pool.serve(now, shared);
    if (by == By::kDevice) device.stream->serve(service.start, service.end, duration, now);
    return service;
  }

  static constexpr Id kNew = -1;

  const core::Cluster& cluster_;
  DeviceFaults device_faults_;
  std::size_t parts_ = 1;  ///< maximum number of parts per worker
  /// The ids of devices, indexed by worker and part. The array is flat to make reads fast, because
  /// the simulator reads an id for each rank and each piece of a collective.
  std::vector<Id> ids_;
  std::vector<Device> devices_;
  bool any_shared_ = false;
};

}  // namespace tutti::sim
