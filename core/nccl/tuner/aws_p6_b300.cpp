// The regions of aws-ofi-nccl's tuner for EC2 P6-B300. The table contains only numbers: {bytes,
// ranks} of each corner. The file aws_regions.h explains the regions.
// SOURCE: aws/aws-ofi-nccl v1.21.1 (Apache-2.0) src/tuner/nccl_ofi_regions.cpp,
// region_init_internal_p6_b300.

#include "core/nccl/tuner/aws_regions.h"

namespace tutti::core::nccl {
namespace {

std::vector<Region> p6_b300_eight_gpus_all_reduce() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_tree_ll = beyond({360448, 1024}, {360448, 2048});
  const RegionPoint beyond_tree_ll128 = beyond({218103808, 1024}, {251658240, 2048});
  const RegionPoint beyond_nvlstree_simple = beyond({9663676416, 256}, {19327352832, 512});
  // clang-format off
  return {
    {kTree, kLl, {{0,16}, {720896,16}, {491520,32}, {425984,64}, {425984,128}, {425984,256},
      {360448,512}, {360448,1024}, {360448,2048}, beyond_tree_ll, {0,kRegionMaxRanks}}},
    {kTree, kLl128, {beyond_tree_ll, {360448,2048}, {360448,1024}, {360448,512}, {425984,256},
      {425984,128}, {425984,64}, {491520,32}, {720896,16}, {31457280,16}, {54525952,32},
      {109051904,64}, {125829120,128}, {125829120,256}, {184549376,512}, {218103808,1024},
      {251658240,2048}, beyond_tree_ll128}},
    {kRing, kLl128, {{369098752,128}, {109051904,64}, {54525952,32}, {31457280,16}, {62914560,16},
      {603979776,32}, {1006632960,64}, {1006632960,128}}},
    {kNvlsTree, kSimple, {beyond_tree_ll128, {251658240,2048}, {218103808,1024}, {184549376,512},
      {125829120,256}, {125829120,128}, {109051904,64}, {369098752,128}, {1006632960,128},
      {1006632960,64}, {603979776,32}, {62914560,16}, {kRegionMaxBytes,16}, {603979776,32},
      {2013265920,64}, {4026531840,128}, {9663676416,256}, {19327352832,512},
      beyond_nvlstree_simple}},
    {kRing, kSimple, {beyond_nvlstree_simple, {19327352832,512}, {9663676416,256}, {4026531840,128},
      {2013265920,64}, {603979776,32}, {kRegionMaxBytes,16}}},
  };
  // clang-format on
}

std::vector<Region> p6_b300_eight_gpus_all_gather() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_ring_ll = beyond({109051904, 1024}, {218103808, 2048});
  const RegionPoint beyond_ring_ll128 = beyond({13958643712, 512}, {27917287424, 1024});
  // clang-format off
  return {
    {kRing, kLl, {{0,16}, {1703936,16}, {3407872,32}, {6815744,64}, {13631488,128}, {27262976,256},
      {54525952,512}, {109051904,1024}, {218103808,2048}, beyond_ring_ll, {0,kRegionMaxRanks}}},
    {kRing, kLl128, {beyond_ring_ll, {218103808,2048}, {109051904,1024}, {54525952,512},
      {27262976,256}, {13631488,128}, {6815744,64}, {3407872,32}, {1703936,16}, {436207616,16},
      {872415232,32}, {1744830464,64}, {3489660928,128}, {6979321856,256}, {13958643712,512},
      {27917287424,1024}, beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {27917287424,1024}, {13958643712,512}, {6979321856,256},
      {3489660928,128}, {1744830464,64}, {872415232,32}, {436207616,16}, {kRegionMaxBytes,16}}},
  };
  // clang-format on
}

std::vector<Region> p6_b300_eight_gpus_reduce_scatter() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_ring_ll = beyond({109051904, 1024}, {218103808, 2048});
  const RegionPoint beyond_ring_ll128 = beyond({13958643712, 512}, {27917287424, 1024});
  // clang-format off
  return {
    {kRing, kLl, {{0,16}, {1703936,16}, {3407872,32}, {6815744,64}, {13631488,128}, {27262976,256},
      {54525952,512}, {109051904,1024}, {218103808,2048}, beyond_ring_ll, {0,kRegionMaxRanks}}},
    {kRing, kLl128, {beyond_ring_ll, {218103808,2048}, {109051904,1024}, {54525952,512},
      {27262976,256}, {13631488,128}, {6815744,64}, {3407872,32}, {1703936,16}, {301989888,16},
      {738197504,32}, {1207959552,64}, {3489660928,128}, {6979321856,256}, {13958643712,512},
      {27917287424,1024}, beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {27917287424,1024}, {13958643712,512}, {6979321856,256},
      {3489660928,128}, {1207959552,64}, {738197504,32}, {301989888,16}, {kRegionMaxBytes,16}}},
  };
  // clang-format on
}

std::vector<Region> p6_b300_one_gpu_all_reduce() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_tree_ll128 = beyond({1441792, 16}, {1441792, 256});
  const RegionPoint beyond_tree_simple = beyond({503316480, 128}, {1476395008, 256});
  // clang-format off
  return {
    {kTree, kLl, {{0,2}, {65536,2}, {65536,64}, {65536,kRegionMaxRanks}, {0,kRegionMaxRanks}}},
    {kTree, kLl128, {{65536,kRegionMaxRanks}, {65536,64}, {65536,2}, {294912,2}, {720896,4}, {1179648,8},
      {1441792,16}, {1441792,128}, {1441792,256}, beyond_tree_ll128}},
    {kTree, kSimple, {beyond_tree_ll128, {1441792,256}, {1441792,128}, {1441792,16}, {1179648,8},
      {2359296,8}, {4718592,16}, {75497472,32}, {218103808,64}, {503316480,128}, {1476395008,256},
      beyond_tree_simple}},
    {kRing, kLl128, {{1476395008,256}, {503316480,128}, {218103808,64}, {75497472,32}, {4718592,16},
      {2359296,8}, {1179648,8}, {720896,4}, {294912,2}, {3407872,2}, {13631488,4}, {31457280,8},
      {75497472,16}, {150994944,32}, {301989888,64}, {603979776,128}}},
    {kRing, kSimple, {beyond_tree_simple, {1476395008,256}, {603979776,128}, {301989888,64},
      {150994944,32}, {75497472,16}, {31457280,8}, {13631488,4}, {3407872,2}, {kRegionMaxBytes,2}}},
  };
  // clang-format on
}

std::vector<Region> p6_b300_one_gpu_all_gather() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_pat_simple = beyond({369098752, 128}, {738197504, 256});
  const RegionPoint beyond_ring_ll128 = beyond({603979776, 128}, {1207959552, 256});
  // clang-format off
  return {
    {kRing, kLl, {{0,2}, {147456,2}, {131072,12}, {106496,8}, {65536,4}, {57344,8}, {36864,4},
      {32768,3}, {4608,4}, {0,8}}},
    {kPat, kSimple, {{0,kRegionMaxRanks}, {0,8}, {4608,4}, {32768,3}, {36864,4}, {57344,8}, {65536,4},
      {106496,8}, {131072,12}, {147456,2}, {294912,4}, {4718592,8}, {9437184,16}, {75497472,32},
      {218103808,64}, {369098752,128}, {738197504,256}, beyond_pat_simple}},
    {kRing, kLl128, {beyond_pat_simple, {738197504,256}, {369098752,128}, {218103808,64},
      {75497472,32}, {9437184,16}, {4718592,8}, {294912,4}, {147456,2}, {5767168,2}, {15728640,4},
      {37748736,8}, {75497472,16}, {150994944,32}, {301989888,64}, {603979776,128},
      {1207959552,256}, beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {1207959552,256}, {603979776,128}, {301989888,64},
      {150994944,32}, {75497472,16}, {37748736,8}, {15728640,4}, {5767168,2}, {34359738368,2}}},
  };
  // clang-format on
}

std::vector<Region> p6_b300_one_gpu_reduce_scatter() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_pat_simple = beyond({503316480, 128}, {1006632960, 256});
  const RegionPoint beyond_ring_ll128 = beyond({603979776, 128}, {1207959552, 256});
  // clang-format off
  return {
    {kRing, kLl, {{0,2}, {45056,2}, {147456,4}, {131072,8}, {36864,4}, {4608,4}, {4096,6}, {0,8}}},
    {kPat, kSimple, {{0,kRegionMaxRanks}, {0,8}, {4096,6}, {4608,4}, {36864,4}, {131072,8}, {147456,4},
      {45056,2}, {2359296,4}, {4718592,8}, {67108864,16}, {92274688,32}, {218103808,64},
      {503316480,128}, {1006632960,256}, beyond_pat_simple}},
    {kRing, kLl128, {beyond_pat_simple, {1006632960,256}, {503316480,128}, {218103808,64},
      {92274688,32}, {67108864,16}, {4718592,8}, {2359296,4}, {45056,2}, {3932160,2}, {11534336,4},
      {31457280,8}, {75497472,16}, {150994944,32}, {301989888,64}, {603979776,128},
      {1207959552,256}, beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {1207959552,256}, {603979776,128}, {301989888,64},
      {150994944,32}, {75497472,16}, {31457280,8}, {11534336,4}, {3932160,2}, {kRegionMaxBytes,2}}},
  };
  // clang-format on
}

}  // namespace

std::vector<Region> p6_b300_regions(Function function, int gpus_per_node) {
  if (gpus_per_node == 8) {
    if (function == Function::kAllReduce) return p6_b300_eight_gpus_all_reduce();
    if (function == Function::kAllGather) return p6_b300_eight_gpus_all_gather();
    if (function == Function::kReduceScatter) return p6_b300_eight_gpus_reduce_scatter();
  }
  if (gpus_per_node == 1) {
    if (function == Function::kAllReduce) return p6_b300_one_gpu_all_reduce();
    if (function == Function::kAllGather) return p6_b300_one_gpu_all_gather();
    if (function == Function::kReduceScatter) return p6_b300_one_gpu_reduce_scatter();
  }
  return {};
}

}  // namespace tutti::core::nccl
