#pragma once

#include <array>

#include "core/nccl/names.h"
#include "core/nccl/version.h"

namespace tutti::core::nccl {

/// Values for one node, for two, and for more.
using PerScale = std::array<double, 3>;
/// Values for Volta and older, Ampere, Hopper, Blackwell.
using PerGeneration = std::array<PerScale, 4>;
/// us.
using Latencies = std::array<std::array<double, kProtocols>, kAlgorithms>;

/// The connection between two GPUs, in the terms of NCCL's tables.
enum class Hardware { kNvlink, kPci, kNet };

/// The constants of NCCL's cost model: latencies in us, bandwidths in GB/s (1e9). NCCL stores
/// latencies, efficiencies and factors in single precision.
struct Constants {
  Version since;
  Latencies base;                 ///< start latency of the whole collective
  std::array<Latencies, 3> hop;   ///< latency of one hop, by Hardware
  PerGeneration ll_most;          ///< maximum bus bandwidth of LL
  PerGeneration ring_ll128_most;  ///< maximum per channel
  PerGeneration tree_ll128_most;  ///< maximum per channel
  /// Maximum by collective: of all channels in 2.6, of one channel in 2.7 to 2.9, and 0 later.
  std::array<double, kFunctions> ll128_most;
  PerGeneration tree_most;                ///< maximum per channel
  PerGeneration nvls_tree_most;           ///< maximum per channel
  std::array<double, 4> nvls_efficiency;  ///< share by generation, from 2.28 on
  int operations_per_batch;  ///< number of grouped collectives that a tree executes for one latency
};

/// The share of a tree's bandwidth that remains at a size: by protocol and log2(bytes / 64), for
/// `sizes` values.
struct TreeCorrection {
  Version since;
  int sizes;
  std::array<std::array<double, 24>, kProtocols> factor;
};

/// REQUIRES: not older than kOldestVersion.
const Constants& constants_of(Version version);
const TreeCorrection& tree_correction_of(Version version);

}  // namespace tutti::core::nccl
