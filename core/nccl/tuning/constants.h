#pragma once

#include <array>

#include "core/nccl/names.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// A constant with three values: for one node, for two nodes, and for more nodes.
using PerScale = std::array<double, 3>;
/// A constant with a PerScale for each of four generations: Volta and older, Ampere, Hopper, and
/// Blackwell.
using PerGeneration = std::array<PerScale, 4>;
/// Latencies in us for each algorithm and protocol.
using Latencies = std::array<std::array<double, kProtocols>, kAlgorithms>;

/// The kinds of connections between two GPUs in NCCL's tables.
enum class Hardware { kNvlink, kPci, kNet };

/// The constants of NCCL's cost model: latencies in us, bandwidths in GB/s (1e9). Constants are
/// `float` where NCCL uses single precision.
struct Constants {
  Version since;
  Latencies base;                ///< initial latency of the whole collective
  std::array<Latencies, 3> hop;  ///< latency of one hop for each value of Hardware
  PerGeneration ll_max;          ///< maximum bus bandwidth of LL
  PerGeneration ring_ll128_max;  ///< maximum bus bandwidth of one channel of a ring with LL128
  PerGeneration tree_ll128_max;  ///< maximum bus bandwidth of one channel of a tree with LL128
  /// The maximum bus bandwidth of LL128 for each collective. In 2.6, the LL128 limit applies to all
  /// channels together. In 2.7 to 2.9, the limit applies to one channel. From 2.10 on, NCCL does
  /// not use this limit, and the values here are 0.
  std::array<double, kFunctions> ll128_max;
  PerGeneration tree_max;                 ///< maximum bus bandwidth of one channel of a tree
  PerGeneration nvls_tree_max;            ///< maximum bus bandwidth of one channel of an NVLS tree
  std::array<double, 4> nvls_efficiency;  ///< efficiency of NVLS for each generation of GPUs (2.28
                                          ///< and later)
  int operations_per_batch;  ///< number of collectives in a group for which NCCL counts the latency
                             ///< once (except with Ring, which counts it for every collective)
};

/// The factors by which NCCL reduces a tree's bandwidth. A factor depends on the protocol and on
/// log2(bytes / 64). `sizes` is the number of factors per protocol.
struct TreeCorrection {
  Version since;
  int sizes;
  std::array<std::array<double, 24>, kProtocols> factor;
};

/// Returns the constants of a release. REQUIRES: the release is not older than kOldestVersion.
const Constants& constants_of(Version version);
const TreeCorrection& tree_correction_of(Version version);

}  // namespace tutti::core::nccl
