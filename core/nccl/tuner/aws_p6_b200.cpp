// The regions of aws-ofi-nccl's tuner for EC2 P6-B200. The table contains only numbers: {bytes,
// ranks} of each corner. The file aws_regions.h explains the regions.
// SOURCE: aws/aws-ofi-nccl v1.21.1 (Apache-2.0) src/tuner/nccl_ofi_regions.cpp,
// region_init_internal_p6.

#include "core/nccl/tuner/aws_regions.h"

namespace tutti::core::nccl {
namespace {

std::vector<Region> p6_b200_eight_gpus_all_reduce() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_tree_ll = beyond({393216, 16}, {393216, 1024});
  const RegionPoint beyond_tree_ll128 = beyond({96993280, 1024}, {106430464, 2048});
  const RegionPoint beyond_nvlstree_simple = beyond({10737418240, 512}, {34359738368, 1500});
  // clang-format off
  return {
    {kTree, kLl, {{0,16}, {393216,16}, beyond_tree_ll, {0,kRegionMaxRanks}}},
    {kTree, kLl128, {beyond_tree_ll, {393216,16}, {4718592,16}, {18350080,32}, {40370176,64},
      {57147392,128}, {72876032,256}, {96993280,1024}, {106430464,2048}, beyond_tree_ll128}},
    {kRing, kLl128, {{90701824,128}, {50855936,64}, {18350080,32}, {133693440,32}, {120061952,64}}},
    {kNvlsTree, kSimple, {beyond_tree_ll128, {106430464,2048}, {96993280,1024}, {72876032,256},
      {57147392,128}, {40370176,64}, {18350080,32}, {50855936,64}, {90701824,128}, {120061952,64},
      {133693440,32}, {18350080,32}, {4718592,16}, {kRegionMaxBytes,16}, {435159040,32}, {1072693248,64},
      {10737418240,512}, {34359738368,1500}, beyond_nvlstree_simple}},
    {kRing, kSimple, {beyond_nvlstree_simple, {10737418240,512}, {1072693248,64}, {435159040,32},
      {kRegionMaxBytes,16}}},
  };
  // clang-format on
}

std::vector<Region> p6_b200_eight_gpus_all_gather() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_ring_ll = beyond({74973184, 1024}, {213385216, 2048});
  const RegionPoint beyond_ring_ll128 = beyond({8321499136, 512}, {32212254720, 2048});
  // clang-format off
  return {
    {kRing, kLl, {{0,16}, {786432,16}, {1572864,32}, {2621440,64}, {4718592,128}, {17301504,256},
      {74973184,1024}, {213385216,2048}, beyond_ring_ll, {0,kRegionMaxRanks}}},
    {kRing, kLl128, {beyond_ring_ll, {213385216,2048}, {74973184,1024}, {17301504,256},
      {4718592,128}, {2621440,64}, {1572864,32}, {786432,16}, {198705152,16}, {456130560,32},
      {871366656,64}, {8321499136,512}, {32212254720,2048}, beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {32212254720,2048}, {8321499136,512}, {871366656,64},
      {456130560,32}, {198705152,16}, {kRegionMaxBytes,16}}},
  };
  // clang-format on
}

std::vector<Region> p6_b200_eight_gpus_reduce_scatter() {
  using enum Algorithm;
  using enum Protocol;
  const RegionPoint beyond_ring_ll = beyond({73924608, 1024}, {209190912, 2048});
  const RegionPoint beyond_ring_ll128 = beyond({4294967296, 256}, {8589934592, 512});
  // clang-format off
  return {
    {kRing, kLl, {{0,16}, {786432,16}, {1572864,32}, {2621440,64}, {4718592,128}, {17301504,256},
      {35127296,512}, {73924608,1024}, {209190912,2048}, beyond_ring_ll, {0,kRegionMaxRanks}}},
    {kRing, kLl128, {beyond_ring_ll, {209190912,2048}, {73924608,1024}, {35127296,512},
      {17301504,256}, {4718592,128}, {2621440,64}, {1572864,32}, {786432,16}, {219676672,16},
      {508559360,32}, {592445440,64}, {4294967296,256}, {8589934592,512}, beyond_ring_ll128}},
    {kRing, kSimple, {beyond_ring_ll128, {8589934592,512}, {4294967296,256}, {592445440,64},
      {508559360,32}, {219676672,16}, {kRegionMaxBytes,16}}},
  };
  // clang-format on
}

std::vector<Region> p6_b200_one_gpu_all_reduce() {
  using enum Algorithm;
  using enum Protocol;
  // clang-format off
  return {
    {kTree, kLl, {{0,2}, {32768,2}, {32768,128}, {32768,131072}, {0,131072}}},
    {kTree, kLl128, {{32768,2}, {131072,2}, {8388608,128}, {8589934592,131072}, {32768,131072},
      {32768,128}}},
    {kRing, kLl128, {{131072,2}, {3145728,2}, {297795584,128}, {kRegionMaxBytes,45916},
      {kRegionMaxBytes,59831}, {164626432,128}, {20971520,48}, {3145728,48}}},
    {kTree, kSimple, {{3145728,48}, {20971520,48}, {164626432,128}, {kRegionMaxBytes,59831},
      {kRegionMaxBytes,131072}, {8589934592,131072}}},
    {kRing, kSimple, {{3145728,2}, {kRegionMaxBytes,2}, {kRegionMaxBytes,45916}, {297795584,128}}},
  };
  // clang-format on
}

std::vector<Region> p6_b200_one_gpu_all_gather() {
  using enum Algorithm;
  using enum Protocol;
  // clang-format off
  return {
    {kRing, kLl, {{0,2}, {65536,2}, {65536,4}}},
    {kPat, kSimple, {{0,2}, {65536,4}, {1048576,4}, {4194305,16}, {12582912,48}, {88080384,48},
      {248512512,128}, {34359738368,17137}, {0,131072}}},
    {kRing, kLl128, {{65536,2}, {2097152,2}, {16777216,8}, {291504128,128}, {34359738368,15008},
      {34359738368,17137}, {248512512,128}, {88080384,48}, {12582912,48}, {4194305,16}, {1048576,4},
      {65536,4}}},
    {kRing, kSimple, {{2097152,2}, {34359738368,2}, {34359738368,15008}, {291504128,128},
      {16777216,8}}},
  };
  // clang-format on
}

std::vector<Region> p6_b200_one_gpu_reduce_scatter() {
  using enum Algorithm;
  using enum Protocol;
  // clang-format off
  return {
    {kRing, kLl, {{0,2}, {65536,2}, {65536,4}}},
    {kPat, kSimple, {{0,2}, {65536,4}, {1048576,4}, {3345192,8}, {19065019,16}, {67108864,48},
      {106954752,48}, {274877906944,121928}, {0,131072}}},
    {kRing, kLl128, {{65536,2}, {2097152,2}, {16777216,8}, {106954752,48}, {67108864,48},
      {19065019,16}, {3345192,8}, {1048576,4}, {65536,4}}},
    {kRing, kSimple, {{2097152,2}, {274877906944,2}, {274877906944,121928}, {106954752,48},
      {16777216,8}}},
  };
  // clang-format on
}

}  // namespace

std::vector<Region> p6_b200_regions(Function function, int gpus_per_node) {
  if (gpus_per_node == 8) {
    if (function == Function::kAllReduce) return p6_b200_eight_gpus_all_reduce();
    if (function == Function::kAllGather) return p6_b200_eight_gpus_all_gather();
    if (function == Function::kReduceScatter) return p6_b200_eight_gpus_reduce_scatter();
  }
  if (gpus_per_node == 1) {
    if (function == Function::kAllReduce) return p6_b200_one_gpu_all_reduce();
    if (function == Function::kAllGather) return p6_b200_one_gpu_all_gather();
    if (function == Function::kReduceScatter) return p6_b200_one_gpu_reduce_scatter();
  }
  return {};
}

}  // namespace tutti::core::nccl
