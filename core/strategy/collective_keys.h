#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti::core {

/// Assigns the keys by which TensorFlow's workers identify groups and collectives. Workers build
/// their graphs independently, but all of them request keys in the same order and therefore assign
/// the same keys.
/// SOURCE: tensorflow/python/distribute/cross_device_utils.py, CollectiveKeys (1.15). In this
/// class, one counter is used for all collectives.
class CollectiveKeys {
 public:
  /// Returns the group key of a set of devices. A device is named as "GPU:0" or by a full name that
  /// ends in this form. Two sets have the same key if their device types and indices are equal, in
  /// any order and on any worker. Keys start at 1.
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

/// Returns the order in which a device launches collectives that are not ordered otherwise: their
/// indices by descending instance key. TensorFlow enforces this order by edges between the
/// operations of a graph (`collective_deterministic_sequential_execution`). With NCCL, an operation
/// waits until the previous one has been launched.
/// SOURCE: tensorflow/core/graph/collective_order.cc.
std::vector<int> launch_order(const std::vector<std::int64_t>& instance_keys);

}  // namespace tutti::core
