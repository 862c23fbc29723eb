#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/names.h"

namespace tutti::core::nccl {

// The tables of aws-ofi-nccl's tuner. For every kind of machine, number of GPUs per node, and
// collective, the tuner has a list of regions in the plane of bytes and ranks, each with an
// algorithm and a protocol. The first region that contains the call, and whose algorithm and
// protocol NCCL can use, decides. Outside of all regions, NCCL decides. Regions are polygons whose
// edges are straight if both axes are logarithmic.
// SOURCE: aws/aws-ofi-nccl v1.21.1 (Apache-2.0) src/tuner/nccl_ofi_regions.cpp; before v1.19, edges
// were straight on linear axes.

/// The upper limits of the plane: bytes and ranks.
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

/// Returns the point at which the line from `a` through `b` reaches kRegionMaxBytes or
/// kRegionMaxRanks. The line is straight on logarithmic axes.
RegionPoint beyond(RegionPoint a, RegionPoint b);

/// True if the point (bytes, ranks) is inside the region or on its edge. REQUIRES: the region has
/// at least two vertices.
bool holds(const Region& region, std::int64_t bytes, int ranks);

/// Returns the sizes in bytes at which edges and corners of the region lie, for a given number of
/// ranks.
std::vector<double> borders(const Region& region, int ranks);

// These functions return the regions in the tuner's order; empty if the tuner has no regions.
std::vector<Region> p5_regions(Function function, int gpus_per_node);
std::vector<Region> p5en_regions(Function function, int gpus_per_node);
std::vector<Region> p6_b200_regions(Function function, int gpus_per_node);
std::vector<Region> p6_b300_regions(Function function, int gpus_per_node);

}  // namespace tutti::core::nccl
