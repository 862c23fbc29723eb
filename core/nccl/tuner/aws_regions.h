#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/names.h"

namespace tutti::core::nccl {

// aws-ofi-nccl's tuner keeps, for every kind of machine, number of GPUs per node and collective, a
// list of regions in the plane of bytes and ranks, each with an algorithm and a protocol. The first
// region that holds the call, and whose algorithm and protocol NCCL can take, decides. Outside of
// all regions NCCL decides. Regions are polygons whose edges are straight where both axes are
// logarithmic (base 2).
// SOURCE: aws/aws-ofi-nccl v1.21.1 (Apache-2.0) src/tuner/nccl_ofi_regions.cpp; before v1.19 edges
// were straight on linear axes.

/// The limits of the plane.
inline constexpr double kRegionMaxBytes = 100.0 * 1024 * 1024 * 1024;
inline constexpr double kRegionMaxRanks = 1024.0 * 1024;

struct RegionPoint {
  double bytes = 0;
  double ranks = 0;
};

struct Region {
  Algorithm algorithm = Algorithm::kRing;
  Protocol protocol = Protocol::kSimple;
  std::vector<RegionPoint> vertices;
};

/// Returns the point at which the line from `a` through `b`, straight on logarithmic axes, reaches
/// kRegionMaxBytes or kRegionMaxRanks.
RegionPoint beyond(RegionPoint a, RegionPoint b);

/// True inside and on the edge. REQUIRES: at least two vertices.
bool holds(const Region& region, std::int64_t bytes, int ranks);

/// Returns the bytes at which the region has edges and corners, for a given number of ranks.
std::vector<double> borders(const Region& region, int ranks);

// The lists, in their order; empty where the tuner has none.
std::vector<Region> p5_regions(Function function, int gpus_per_node);
std::vector<Region> p5en_regions(Function function, int gpus_per_node);
std::vector<Region> p6_b200_regions(Function function, int gpus_per_node);
std::vector<Region> p6_b300_regions(Function function, int gpus_per_node);

}  // namespace tutti::core::nccl
