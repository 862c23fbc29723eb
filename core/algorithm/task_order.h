#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/schedule/step.h"

namespace tutti::core {

/// How many of the numbers 0 … count - 1 come before `number` when they are sorted as text (0, 1, 10, 11, 2, …).
/// Cost: the number of digits. REQUIRES: 0 ≤ number < count.
std::int64_t place_by_name(std::int64_t number, std::int64_t count);
/// The other way about: which number comes at that place.
std::int64_t number_by_name(std::int64_t place, std::int64_t count);

/// A device as TensorFlow sees it while it orders those of a task: its number, and the links that it advertises.
struct LinkedDevice {
  struct Link {
    int peer = 0;  ///< that device's number
    int strength = 1;
  };
  int number = 0;
  std::vector<Link> links;  ///< in the order in which they are advertised
};

/// `gpu_ring_order` (numbers with commas) names each of the devices once, and nothing else.
bool names_each_once(const std::vector<LinkedDevice>& devices, std::string_view gpu_ring_order);

/// The order of one task's GPUs in TensorFlow's rings: `gpu_ring_order` if it names each of them once; else from the first device on, always along the strongest link to a device that was not there yet (the first of
/// equally strong ones), and where no link leads on, to the first such device.
/// `devices` in the order of their names. SOURCE: tensorflow/core/common_runtime/collective_param_resolver_local.cc.
std::vector<int> ring_device_order(const std::vector<LinkedDevice>& devices, std::string_view gpu_ring_order);

/// Where TensorFlow's runtime puts the replicas of a group: tasks one after the other, in the order of their names; inside
/// each the devices in an order that is the same for all. Ranks are Tutti's: worker by worker. Nothing is kept per rank.
class TaskOrder {
 public:
  /// `devices`: local ranks (0 … per worker - 1) in their order. `by_name`: task 10 comes before task 2.
  TaskOrder(std::int32_t workers, std::vector<std::int32_t> devices, bool by_name);

  [[nodiscard]] std::int32_t workers() const { return workers_; }
  [[nodiscard]] std::int32_t per_worker() const { return static_cast<std::int32_t>(devices_.size()); }
  [[nodiscard]] std::int32_t ranks() const { return workers_ * per_worker(); }
  /// The rank of a task's device. REQUIRES: both are places in the order.
  [[nodiscard]] Rank rank(std::int32_t task, std::int32_t device) const {
    return static_cast<Rank>(by_name_ ? number_by_name(task, workers_) : task) * per_worker() +
           devices_[static_cast<std::size_t>(device)];
  }
  /// A rank's places in the order.
  [[nodiscard]] std::int32_t task(Rank rank) const {
    const std::int32_t worker = rank / per_worker();
    return by_name_ ? static_cast<std::int32_t>(place_by_name(worker, workers_)) : worker;
  }
  [[nodiscard]] std::int32_t device(Rank rank) const {
    return place_of_[static_cast<std::size_t>(rank % per_worker())];
  }

 private:
  std::int32_t workers_;
  std::vector<std::int32_t> devices_;
  std::vector<std::int32_t> place_of_;  ///< `devices_`, the other way about
  bool by_name_;                        ///< and it makes a difference
};

/// One ring of a group: in task after task, position i of m is device (i + |offset|) mod m; of a negative offset, its
/// mirror image m - 1 - that, so that the ring leads the other way inside a task.
/// SOURCE: tensorflow/core/common_runtime/ring_alg.cc.
struct Subdivision {
  std::int32_t offset = 0;

  /// A place in the order of `m` devices.
  [[nodiscard]] std::int32_t device_at(std::int32_t position, std::int32_t m) const {
    const std::int32_t turn = (offset < 0 ? -offset : offset) % m;
    const std::int32_t device = (position + turn) % m;
    return offset < 0 ? m - 1 - device : device;
  }
  [[nodiscard]] std::int32_t position_of(std::int32_t device, std::int32_t m) const {
    const std::int32_t turn = (offset < 0 ? -offset : offset) % m;
    return ((offset < 0 ? m - 1 - device : device) + m - turn) % m;
  }
};

/// TensorFlow's own choice of subdivisions, where an operation leaves it to the runtime (`max_per_device` -1 leaves it one;
/// nothing: 2): more of them while chunks are longer than 4 MiB, turned against each other, every other one mirrored.
/// SOURCE: tensorflow/core/common_runtime/ring_alg.cc, GenerateSubdivsInCollectiveParams.
std::vector<std::int32_t> subdivision_offsets(std::int64_t bytes, std::int64_t group_size, std::int64_t tasks,
                                              std::int64_t max_per_device);

}  // namespace tutti::core
