#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tutti::core {

/// The keys by which TensorFlow's workers, which build their graphs independently, identify a group
/// and a collective. Keys are assigned in the order of requests, which is the same on all workers.
/// SOURCE: tensorflow/python/distribute/cross_device_utils.py, CollectiveKeys (1.15; one counter
/// for all collectives here).
class CollectiveKeys {
 public:
  /// Returns the group key of a set of devices ("GPU:0", or a full name, of which only that part
  /// counts). Sets with the same device types and indices have the same key, in any order and on
  /// any worker. Keys start at 1.
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

/// Returns the launch order of one device's collectives that are not ordered otherwise, as indices:
/// by instance key, the largest first. TensorFlow enforces it with edges between the operations of
/// a graph (`collective_deterministic_sequential_execution`) or, with NCCL, by waiting until the
/// previous one has been launched.
/// SOURCE: tensorflow/core/graph/collective_order.cc.
std::vector<int> launch_order(const std::vector<std::int64_t>& instance_keys);

}  // namespace tutti::core
