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
/// Returns TensorFlow's default. SOURCE: cross_device_ops.py, choose_the_best,
/// select_cross_device_ops.
CrossDeviceOps choose_the_best(bool all_gpus, bool nccl_registered);

/// Returns the problem with num_packs of NcclAllReduce or HierarchicalCopyAllReduce, in
/// TensorFlow's words; empty if there is none. `zero_is_none`: 0 means that nothing is packed
/// (since 2.1).
std::string problem_of_num_packs(CrossDeviceOps ops, std::int64_t num_packs, bool zero_is_none);

}  // namespace tutti::core
