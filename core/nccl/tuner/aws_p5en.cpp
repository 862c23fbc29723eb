// The regions of aws-ofi-nccl's tuner for EC2 P5en. The table contains only numbers: {bytes, ranks}
// of each corner. The file aws_regions.h explains the regions.
// SOURCE: aws/aws-ofi-nccl v1.21.1 (Apache-2.0) src/tuner/nccl_ofi_regions.cpp,
// region_init_internal_p5en.

#include "core/nccl/tuner/aws_regions.h"

namespace tutti::core::nccl {
namespace {

std::vector<Region> p5en_eight_gpus_all_reduce() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_tree_ll = beyond({196608, 192}, {196608, 1024});
  const RegionPoint beyond_tree_ll128 = beyond({129499136, 127}, {218103808, 1024});
  const RegionPoint beyond_nvlstree_simple = beyond({7516192768, 256}, {17179869184, 448});
  // clang-format off
  return {
    {kTree, kLl, {{0,16}, {196608,16}, {196608,1024}, beyond_tree_ll, {0,kRegionMaxRanks}}},
    {kTree, kLl128, {beyond_tree_ll, {196608,1024}, {196608,16}, {13107200,16}, {129499136,127},
      {218103808,1024}, beyond_tree_ll128}},
    {kRing, kLl128, {{129499136,127}, {13107200,16}, {29884416,16}, {293601280,32}, {589299712,64},
      {549453824,128}}},
    {kNvlsTree, kSimple, {beyond_tree_ll128, {218103808,1024}, {129499136,127}, {549453824,128},
      {589299712,64}, {293601280,32}, {29884416,16}, {kRegionMaxBytes,16}, {509607936,32},
      {7516192768,256}, {17179869184,448}, beyond_nvlstree_simple}},
    {kRing, kSimple, {beyond_nvlstree_simple, {17179869184,448}, {7516192768,256}, {509607936,32},
      {kRegionMaxBytes,16}}},
  };
  // clang-format on
}

std::vector<Region> p5en_eight_gpus_all_gather() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_ring_ll = beyond({28305408, 768}, {33554432, 1024});
  const RegionPoint beyond_ring_ll128 = beyond({7247754240, 384}, {17179865088, 896});
  // clang-format off
  return {
    {kRing, kLl, {{0,16}, {786432,16}, {4718592,128}, {13630464,384}, {19922944,512},
      {28305408,768}, {33554432,1024}, beyond_ring_ll, {0,kRegionMaxRanks}}},
    {kRing, kLl128, {beyond_ring_ll, {33554432,1024}, {28305408,768}, {19922944,512},
      {13630464,384}, {4718592,128}, {786432,16}, {236978176,16}, {956301312,64}, {7247754240,384},
      {17179865088,896}, beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {17179865088,896}, {7247754240,384}, {956301312,64},
      {494927872,32}, {236978176,16}, {kRegionMaxBytes,16}}},
  };
  // clang-format on
}

std::vector<Region> p5en_eight_gpus_reduce_scatter() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_ring_ll = beyond({7340032, 256}, {18874368, 512});
  const RegionPoint beyond_ring_ll128 = beyond({7247757312, 256}, {17179869184, 640});
  // clang-format off
  return {
    {kRing, kLl, {{0,16}, {786432,16}, {4718592,128}, {7340032,256}, {18874368,512}, beyond_ring_ll,
      {0,kRegionMaxRanks}}},
    {kRing, kLl128, {beyond_ring_ll, {18874368,512}, {7340032,256}, {4718592,128}, {786432,16},
      {291504128,16}, {589299712,32}, {2415919104,128}, {7247757312,256}, {17179869184,640},
      beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {17179869184,640}, {7247757312,256}, {2415919104,128},
      {589299712,32}, {291504128,16}, {kRegionMaxBytes,16}}},
  };
  // clang-format on
}

std::vector<Region> p5en_one_gpu_all_reduce() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_tree_ll128 = beyond({524288, 8}, {1048576, 96});
  const RegionPoint beyond_tree_simple = beyond({8388608, 32}, {33554432, 128});
  const RegionPoint beyond_ring_ll128 = beyond({50331648, 16}, {301989888, 128});
  // clang-format off
  return {
    {kTree, kLl, {{0,2}, {65536,2}, {65536,64}, {65536,kRegionMaxRanks}}},
    {kTree, kLl128, {{65536,kRegionMaxRanks}, {65536,64}, {65536,2}, {262144,2}, {1048576,4},
      {4194304,8}, {16777216,16}, {33554432,32}, {1048576,32}, {1048576,96}, beyond_tree_ll128}},
    {kTree, kSimple, {beyond_tree_ll128, {1048576,96}, {1048577,32}, {33554431,32}, {33554432,128},
      beyond_tree_simple}},
    {kRing, kLl128, {beyond_tree_simple, {33554432,128}, {33554433,32}, {16777217,16}, {4194305,8},
      {1048577,4}, {262144,2}, {6291456,2}, {50331648,16}, {301989888,128}, beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {301989888,128}, {50331648,16}, {6291456,2},
      {kRegionMaxBytes,2}}},
  };
  // clang-format on
}

std::vector<Region> p5en_one_gpu_all_gather() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_pat_simple = beyond({50331648, 64}, {117440512, 128});
  const RegionPoint beyond_ring_ll128 = beyond({50331648, 16}, {301989888, 128});
  // clang-format off
  return {
    {kPat, kSimple, {{0,2}, {65536,2}, {1048576,2}, {8388608,8}, {16777216,16}, {16777216,32},
      {50331648,64}, {117440512,128}, beyond_pat_simple, {kRegionMaxBytes,kRegionMaxRanks},
      {65536,kRegionMaxRanks}, {0,kRegionMaxRanks}}},
    {kRing, kLl128, {beyond_pat_simple, {117440512,128}, {50331648,64}, {16777216,32},
      {16777217,16}, {8388609,8}, {1048576,2}, {4194304,2}, {50331648,16}, {301989888,128},
      beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {301989888,128}, {50331648,16}, {4194304,2},
      {kRegionMaxBytes,2}}},
  };
  // clang-format on
}

std::vector<Region> p5en_one_gpu_reduce_scatter() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_pat_simple = beyond({50331648, 64}, {117440512, 128});
  const RegionPoint beyond_ring_ll128 = beyond({50331648, 16}, {301989888, 128});
  // clang-format off
  return {
    {kPat, kSimple, {{0,2}, {65536,2}, {1048576,2}, {16777216,32}, {50331648,64}, {117440512,128},
      beyond_pat_simple, {kRegionMaxBytes,kRegionMaxRanks}, {65536,kRegionMaxRanks}, {0,kRegionMaxRanks}}},
    {kRing, kLl128, {beyond_pat_simple, {117440512,128}, {50331648,64}, {16777216,32}, {1048576,2},
      {4194304,2}, {50331648,16}, {301989888,128}, beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {301989888,128}, {50331648,16}, {4194304,2},
      {kRegionMaxBytes,2}}},
  };
  // clang-format on
}

}  // namespace

std::vector<Region> p5en_regions(Function function, int gpus_per_node) {
  if (gpus_per_node == 8) {
    if (function == Function::kAllReduce) return p5en_eight_gpus_all_reduce();
    if (function == Function::kAllGather) return p5en_eight_gpus_all_gather();
    if (function == Function::kReduceScatter) return p5en_eight_gpus_reduce_scatter();
  }
  if (gpus_per_node == 1) {
    if (function == Function::kAllReduce) return p5en_one_gpu_all_reduce();
    if (function == Function::kAllGather) return p5en_one_gpu_all_gather();
    if (function == Function::kReduceScatter) return p5en_one_gpu_reduce_scatter();
  }
  return {};
}

}  // namespace tutti::core::nccl
