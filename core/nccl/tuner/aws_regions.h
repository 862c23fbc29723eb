#pragma once

#include <cstdint>
#include <vector>

#include "core/nccl/names.h"

namespace tutti::core::nccl {

// The decision tables of the tuner in aws-ofi-nccl. For each kind of machine, number of GPUs per
// node, and collective, the tuner has a list of regions. A region is a polygon in the plane with
// the axes bytes and ranks. Each region has an algorithm and a protocol. The tuner uses the first
// region that contains the call and whose algorithm and protocol NCCL supports for the call.
// Outside of all regions, NCCL makes its own choice. The edges of regions are straight lines on
// logarithmic axes. SOURCE: aws/aws-ofi-nccl v1.21.1 (Apache-2.0) src/tuner/nccl_ofi_regions.cpp.
// Before v1.19, edges were straight lines on linear axes.

/// The largest number of bytes and the largest number of ranks that a region can contain.
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
/// kRegionMaxRanks. Both axes are logarithmic.
RegionPoint beyond(RegionPoint a, RegionPoint b);

/// True if the point (bytes, ranks) is inside the region or on its edge. REQUIRES: the region has
/// at least two vertices.
bool holds(const Region& region, std::int64_t bytes, int ranks);

/// Returns the sizes in bytes at which a collective with the given number of ranks enters or leaves
/// the region, and the sizes at the region's corners.
std::vector<double> borders(const Region& region, int ranks);

// The following functions return the regions in the order in which the tuner tries them; empty if
// the tuner has no regions.
std::vector<Region> p5_regions(Function function, int gpus_per_node);
std::vector<Region> p5en_regions(Function function, int gpus_per_node);
std::vector<Region> p6_b200_regions(Function function, int gpus_per_node);
std::vector<Region> p6_b300_regions(Function function, int gpus_per_node);

}  // namespace tutti::core::nccl
