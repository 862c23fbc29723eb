// The regions of aws-ofi-nccl's tuner for EC2 P5 and P5e. The table contains only numbers: {bytes,
// ranks} of each corner. The file aws_regions.h explains the regions.
// SOURCE: aws/aws-ofi-nccl v1.21.1 (Apache-2.0) src/tuner/nccl_ofi_regions.cpp,
// region_init_internal_p5_p5e.

#include "core/nccl/tuner/aws_regions.h"

namespace tutti::core::nccl {
namespace {

std::vector<Region> p5_eight_gpus_all_reduce() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_tree_ll128 = beyond({402653184, 2048}, {402653184, 4096});
  const RegionPoint beyond_nvlstree_simple_1 = beyond({8053063680, 160}, {9663676416, 192});
  const RegionPoint beyond_nvlstree_simple_2 = beyond({402653184, 2048}, {402653184, 4096});
  const RegionPoint beyond_ring_simple = beyond({8053063680, 160}, {9663676416, 192});
  // clang-format off
  return {
    {kTree, kLl128, {{0,16}, {31457280,16}, {37748736,32}, {117440512,64}, {301989888,128},
      {301989888,256}, {335544320,512}, {536870912,1024}, {402653184,2048}, {402653184,4096},
      beyond_tree_ll128, {0,beyond_tree_ll128.ranks}}},
    {kNvlsTree, kSimple, {{31457281,16}, {kRegionMaxBytes,16}, {31457281,16}}},
    {kRing, kLl128, {{31457280,17}, {1073741824,17}, {2147483648,64}, {2147483648,128},
      {1342177280,160}, {2147483648,256}, {1074790400,256}, {444596224,160}, {301989888,128},
      {117440512,64}, {37748736,32}}},
    {kNvlsTree, kSimple, {{2147483648,128}, {6442450944,128}, {8053063680,160}, {9663676416,192},
      beyond_nvlstree_simple_1, beyond_nvlstree_simple_2, {402653184,4096}, {402653184,2048},
      {536870912,1024}, {335544320,512}, {301989888,256}, {310378496,160}, {444596224,160},
      {1074790400,256}, {2684354560,256}, {2147483648,224}, {1342177280,160}}},
    {kRing, kSimple, {{1073741824,17}, {beyond_ring_simple.bytes,17}, beyond_ring_simple,
      {9663676416,192}, {8053063680,160}, {2684354560,64}, {1610612736,32}}},
  };
  // clang-format on
}

std::vector<Region> p5_two_gpus_all_reduce() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_tree_ll128 = beyond({88160256, 128}, {178163712, 256});
  const RegionPoint beyond_tree_simple_1 = beyond({787480576, 128}, {1073741824, 256});
  const RegionPoint beyond_tree_simple_2 = beyond({257114112, 128}, {269484032, 256});
  const RegionPoint beyond_nvlstree_simple = beyond({787480576, 128}, {1073741824, 256});
  // clang-format off
  return {
    {kTree, kLl128, {{0,4}, {1314816,4}, {1051648,8}, {1051648,12}, {2367488,16}, {5525504,32},
      {9473024,64}, {88160256,128}, {178163712,256}, beyond_tree_ll128,
      {0,beyond_tree_ll128.ranks}}},
    {kRing, kLl128, {{1314816,4}, {19736576,4}, {41842688,8}, {296747008,64}, {257114112,128},
      {269484032,256}, {178163712,256}, {88160256,128}, {9473024,64}, {5525504,32}, {2367488,16},
      {1051648,12}, {1051648,8}, {1314816,4}}},
    {kNvlsTree, kSimple, {{19736576,4}, {81844224,4}, {275775488,8}, {275775488,48}, {296747008,64},
      {41842688,8}}},
    {kTree, kLl128, {{81844224,4}, {269484032,4}, {81844224,4}}},
    {kTree, kSimple, {{269484032,4}, {kRegionMaxBytes,4}, {269484032,4}}},
    {kRing, kSimple, {{81844224,5}, {kRegionMaxBytes,5}, {kRegionMaxBytes,32}, {1073741824,40},
      {1073741824,128}, {787480576,128}, {296747008,64}, {275775488,48}, {275775488,8},
      {81844224,5}}},
    {kTree, kSimple, {{296747008,64}, {787480576,128}, {1073741824,256}, beyond_tree_simple_1,
      beyond_tree_simple_2, {269484032,256}, {257114112,128}}},
    {kNvlsTree, kSimple, {beyond_nvlstree_simple, {1073741824,256}, {787480576,128},
      {1073741824,128}, {1073741824,40}, {kRegionMaxBytes,32}}},
  };
  // clang-format on
}

std::vector<Region> p5_one_gpu_all_reduce() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_tree_ll128 = beyond({9999360, 64}, {119477248, 128});
  const RegionPoint beyond_ring_ll128 = beyond({4736000, 2}, {269484032, 128});
  // clang-format off
  return {
    {kTree, kLl128, {{0,16}, {2367488,16}, {9999360,64}, {119477248,128}, beyond_tree_ll128,
      {0,kRegionMaxRanks}}},
    {kRing, kLl128, {{0,2}, {4736000,2}, {269484032,128}, beyond_ring_ll128, beyond_tree_ll128,
      {119477248,128}, {9999360,64}, {2367488,16}, {0,16}}},
    {kRing, kSimple, {{4736000,2}, {kRegionMaxBytes,2}, beyond_ring_ll128, {269484032,128}}},
  };
  // clang-format on
}

std::vector<Region> p5_one_gpu_all_gather() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_ring_simple = beyond({4194304, 2}, {8589934592, 2048});
  // clang-format off
  return {
    {kRing, kSimple, {{4194304,2}, {kRegionMaxBytes,2}, beyond_ring_simple, {8589934592,2048}}},
  };
  // clang-format on
}

std::vector<Region> p5_one_gpu_reduce_scatter() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_ring_simple = beyond({8388608, 2}, {4294967296, 1024});
  // clang-format off
  return {
    {kRing, kSimple, {{8388608,2}, {kRegionMaxBytes,2}, beyond_ring_simple, {4294967296,1024}}},
  };
  // clang-format on
}

}  // namespace

std::vector<Region> p5_regions(Function function, int gpus_per_node) {
  if (gpus_per_node == 8) {
    if (function == Function::kAllReduce) return p5_eight_gpus_all_reduce();
  }
  if (gpus_per_node == 2) {
    if (function == Function::kAllReduce) return p5_two_gpus_all_reduce();
  }
  if (gpus_per_node == 1) {
    if (function == Function::kAllReduce) return p5_one_gpu_all_reduce();
    if (function == Function::kAllGather) return p5_one_gpu_all_gather();
    if (function == Function::kReduceScatter) return p5_one_gpu_reduce_scatter();
  }
  return {};
}

}  // namespace tutti::core::nccl
