#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::core {

/// The CrossDeviceOps classes of tf.distribute.
enum class CrossDeviceOps : std::uint8_t {
  kNcclAllReduce,
  kHierarchicalCopyAllReduce,
  kReductionToOneDevice
};
std::string_view to_string(CrossDeviceOps ops);
/// Returns the reduction class that TensorFlow uses by default.
/// SOURCE: cross_device_ops.py, choose_the_best, select_cross_device_ops.
CrossDeviceOps choose_the_best(bool all_gpus, bool nccl_registered);

/// Returns TensorFlow's error message for an invalid num_packs of NcclAllReduce or
/// HierarchicalCopyAllReduce; empty if num_packs is valid. If `zero_is_none` is true (since
/// TensorFlow 2.1), the value 0 is valid and means that gradients are not packed.
std::string problem_of_num_packs(CrossDeviceOps ops, std::int64_t num_packs, bool zero_is_none);

}  // namespace tutti::core
