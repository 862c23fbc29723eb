#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/schedule/step.h"

namespace tutti::core {

/// Returns the position of `number` when the numbers 0 … count - 1 are sorted as text (0, 1, 10,
/// 11, 2, …).
/// Cost: proportional to the number of digits of `number`. REQUIRES: 0 ≤ number < count.
std::int64_t place_by_name(std::int64_t number, std::int64_t count);
/// Returns the number at position `place` when the numbers 0 … count - 1 are sorted as text; the
/// inverse of place_by_name().
std::int64_t number_by_name(std::int64_t place, std::int64_t count);

/// A device with the properties by which TensorFlow orders the devices of a task: its number, and
/// the links that it advertises.
struct LinkedDevice {
  struct Link {
    int peer = 0;  ///< number of the device at the other end of the link
    int strength = 1;
  };
  int number = 0;
  std::vector<Link> links;  ///< the device's links, in the order in which the device advertises
                            ///< them
};

/// True if `gpu_ring_order`, a comma-separated list of device numbers, contains each device exactly
/// once and nothing else.
bool names_each_once(const std::vector<LinkedDevice>& devices, std::string_view gpu_ring_order);

/// Returns the order of one task's GPUs in TensorFlow's rings. If `gpu_ring_order` names each GPU
/// exactly once, returns this order. If `gpu_ring_order` does not name each GPU exactly once, the
/// order starts at the first device and always continues at the unvisited device with the strongest
/// link from the previous device. If several links are equally strong, the first is taken. If no
/// link leads to an unvisited device, the first unvisited device is next. `devices` are sorted by
/// name. SOURCE: tensorflow/core/common_runtime/collective_param_resolver_local.cc.
std::vector<int> ring_device_order(const std::vector<LinkedDevice>& devices,
                                   std::string_view gpu_ring_order);

/// The order of a group's replicas in TensorFlow's runtime. Tasks (TensorFlow's name for workers)
/// follow one after the other, sorted by name or by number. The order of devices is the same inside
/// every task. The class converts between this order and Tutti's ranks, which are numbered worker
/// by worker. The memory of a TaskOrder does not depend on the number of tasks.
class TaskOrder {
 public:
  /// `devices` lists a worker's local ranks 0 … per_worker() - 1 in ring order. `by_name`: true if
  /// tasks are sorted by name, so that task 10 comes before task 2.
  TaskOrder(std::int32_t workers, std::vector<std::int32_t> devices, bool by_name);

  [[nodiscard]] std::int32_t workers() const { return workers_; }
  [[nodiscard]] std::int32_t per_worker() const {
    return static_cast<std::int32_t>(devices_.size());
  }
  [[nodiscard]] std::int32_t ranks() const { return workers_ * per_worker(); }
  /// Returns the rank of a task's device. REQUIRES: `task` and `device` are positions in the order.
  [[nodiscard]] Rank rank(std::int32_t task, std::int32_t device) const {
    return static_cast<Rank>(by_name_ ? number_by_name(task, workers_) : task) * per_worker() +
           devices_[device];
  }
  /// Returns the position of a rank's task in the order.
  [[nodiscard]] std::int32_t task(Rank rank) const {
    const std::int32_t worker = rank / per_worker();
    return by_name_ ? static_cast<std::int32_t>(place_by_name(worker, workers_)) : worker;
  }
  [[nodiscard]] std::int32_t device(Rank rank) const { return place_of_[rank % per_worker()]; }

 private:
  std::int32_t workers_;
  std::vector<std::int32_t> devices_;
  std::vector<std::int32_t> place_of_;  ///< the inverse of `devices_`
  bool by_name_;  ///< true if tasks are sorted by name and this order differs from the order by
                  ///< number
};

/// One ring of a group. In a task with m devices, position i of the ring is device d = (i +
/// |offset|) mod m. If the offset is negative, position i is device m - 1 - d instead, so that the
/// ring runs in the opposite direction inside a task.
/// SOURCE: tensorflow/core/common_runtime/ring_alg.cc.
struct Subdivision {
  std::int32_t offset = 0;

  /// Returns the index of the device at `position` of the ring, among the `m` devices of a task.
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

/// Returns the subdivision offsets that TensorFlow's runtime chooses for an operation that does not
/// specify any. Subdivisions are added as long as chunks are longer than 4 MiB. `max_per_device` is
/// the maximum number of subdivisions per device of a task; 0 means 2 per device, and -1 means one
/// subdivision in total. Each subdivision is rotated relative to the previous subdivisions, and
/// every second subdivision is mirrored. SOURCE: tensorflow/core/common_runtime/ring_alg.cc,
/// GenerateSubdivsInCollectiveParams.
std::vector<std::int32_t> subdivision_offsets(std::int64_t bytes, std::int64_t group_size,
                                              std::int64_t tasks, std::int64_t max_per_device);

}  // namespace tutti::core
