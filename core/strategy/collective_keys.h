#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti::core {

/// Assigns the keys by which workers of TensorFlow identify groups and collectives. Each worker
/// builds its own graph. All workers request keys in the same order, so they assign the same keys.
/// SOURCE: tensorflow/python/distribute/cross_device_utils.py, CollectiveKeys (1.15). As in
/// TensorFlow 1.15, the collectives of all groups share one counter.
class CollectiveKeys {
 public:
  /// Returns the key of a group of devices. The name of a device has the form "GPU:0", or is a full
  /// name that ends in this form. Two groups have the same key if their device types and indices
  /// are the same, in any order and on any worker. Keys start at 1.
  std::int64_t group(const std::vector<std::string>& devices);
  /// Returns a new instance key for a collective of a training step. Keys start at 100.
  std::int64_t op() { return next_op_++; }
  /// Returns a new instance key for the broadcast of a variable. Keys start at 1'000'000.
  std::int64_t variable() { return next_variable_++; }

 private:
  std::map<std::vector<std::string>, std::int64_t> groups_;
  std::int64_t next_op_ = 100;
  std::int64_t next_variable_ = 1'000'000;
};

/// Returns the order in which a device launches collectives that do not depend on each other: their
/// indices, sorted by descending instance key. To enforce this order, TensorFlow adds edges between
/// the operations of a graph (`collective_deterministic_sequential_execution`). With NCCL, an
/// operation waits for the launch of the previous one.
/// SOURCE: tensorflow/core/graph/collective_order.cc.
std::vector<int> launch_order(const std::vector<std::int64_t>& instance_keys);

}  // namespace tutti::core
