#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tutti::core {

/// Of tf.distribute's classes.
enum class CrossDeviceOps : std::uint8_t { kNcclAllReduce, kHierarchicalCopyAllReduce, kReductionToOneDevice };
std::string_view to_string(CrossDeviceOps ops);
/// What TensorFlow takes where nobody says. SOURCE: cross_device_ops.py, choose_the_best, select_cross_device_ops.
CrossDeviceOps choose_the_best(bool all_gpus, bool nccl_registered);

/// What is wrong with num_packs of NcclAllReduce or HierarchicalCopyAllReduce, by TensorFlow's words; empty if nothing is.
/// `zero_is_none`: since 2.1 0 means that nothing is packed.
std::string problem_of_num_packs(CrossDeviceOps ops, std::int64_t num_packs, bool zero_is_none);

}  // namespace tutti::core
