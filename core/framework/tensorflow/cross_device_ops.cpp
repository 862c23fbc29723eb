#include "core/framework/tensorflow/cross_device_ops.h"

#include <fmt/format.h>

namespace tutti::core {

std::string_view to_string(CrossDeviceOps ops) {
  switch (ops) {
    case CrossDeviceOps::kNcclAllReduce: return "NcclAllReduce";
    case CrossDeviceOps::kHierarchicalCopyAllReduce: return "HierarchicalCopyAllReduce";
    case CrossDeviceOps::kReductionToOneDevice: return "ReductionToOneDevice";
  }
  return "";
}

CrossDeviceOps choose_the_best(bool all_gpus, bool nccl_registered) {
  return all_gpus && nccl_registered ? CrossDeviceOps::kNcclAllReduce
                                     : CrossDeviceOps::kReductionToOneDevice;
}

std::string problem_of_num_packs(CrossDeviceOps ops, std::int64_t num_packs, bool zero_is_none) {
  if (num_packs > 0 || (num_packs == 0 && zero_is_none)) return "";
  return fmt::format("{} all-reduce requires num_packs {} 0, but {} is specified",
                     ops == CrossDeviceOps::kNcclAllReduce ? "NCCL" : "HierarchicalCopy",
                     zero_is_none ? ">=" : ">", num_packs);
}

}  // namespace tutti::core
