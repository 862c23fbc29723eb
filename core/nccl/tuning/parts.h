#pragma once

// Declarations that the source files of the cost model share. No other code includes this header.

#include "core/nccl/communicator.h"
#include "core/nccl/names.h"
#include "core/nccl/settings.h"
#include "core/nccl/tuning/constants.h"

namespace tutti::core::nccl {

/// The input for one entry of the cost model: a collective with an algorithm and a protocol, in a
/// communicator.
struct Cell {
  const Communicator& comm;
  const Constants& constants;
  const Settings& settings;
  Function function;
  Algorithm algorithm;
  Protocol protocol;

  [[nodiscard]] bool at_least(int minor, int patch = 0) const {
    return comm.version >= Version{2, minor, patch};
  }
  [[nodiscard]] bool is(Algorithm a) const { return algorithm == a; }
  [[nodiscard]] bool is(Protocol p) const { return protocol == p; }
  [[nodiscard]] bool all_reduce() const { return function == Function::kAllReduce; }
  /// True if the collective is an all-gather or a reduce-scatter.
  [[nodiscard]] bool half_of_all_reduce() const {
    return function == Function::kAllGather || function == Function::kReduceScatter;
  }
  [[nodiscard]] bool collnet() const {
    return algorithm == Algorithm::kCollNetDirect || algorithm == Algorithm::kCollNetChain;
  }
  [[nodiscard]] float ranks_per_node() const {
    return static_cast<float>(comm.ranks) / static_cast<float>(comm.nodes);
  }
  /// Returns the number of rounds of a ring.
  [[nodiscard]] int steps() const {
    return all_reduce() ? 2 * (comm.ranks - 1) : half_of_all_reduce() ? comm.ranks - 1 : comm.ranks;
  }
  [[nodiscard]] const Graph& graph() const;
};

/// Returns floor(log2(value)); 0 if the value is 0 or 1.
int log2i(std::int64_t value);

/// Returns the reason why this release of NCCL has no cost model for the cell; null if it has one.
const char* missing(const Cell& cell);
/// Returns the cell's algorithm bandwidth (size divided by time) in GB/s; 0 if the network does not
/// support the algorithm.
float bandwidth_of(const Cell& cell);
/// Returns the cell's latency in us.
float latency_of(const Cell& cell);
/// Returns the reason why the machine or the release excludes the cell; null if the cell is not
/// excluded.
const char* switched_off(const Cell& cell);

}  // namespace tutti::core::nccl
