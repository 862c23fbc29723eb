#pragma once

#include <cstdint>
#include <memory>

#include "core/schedule/block_sizes.h"
#include "core/strategy/collective.h"

namespace tutti::core {

/// Identifies one execution of a collective in a plan. All replicas have the same occurrences.
struct Occurrence {
  std::uint64_t seed = 0;  ///< seed of the run's random numbers
  std::int32_t step = 0;
  std::int64_t number = 0;  ///< index of this execution among all executions of the collective in
                            ///< the step
};

/// Block sizes of an all-to-all that differ from execution to execution. Varying block sizes model
/// tokens that are sent to experts. All sizes follow from the settings and the arguments. Therefore
/// the simulator, real runs, and all processes of a real run compute the same sizes.
///
/// A block has room for `capacity` elements. Each expert (a replica) has its own popularity: for
/// each pair of executions, a fraction of the capacity is drawn uniformly between `min_filled_ppm`
/// and 1'000'000 millionths. All blocks for an expert are filled to the expert's fraction. The
/// first execution of a pair distributes tokens to experts, and the second one returns them.
struct VaryingSizes {
  std::int64_t min_filled_ppm = 1'000'000;

  [[nodiscard]] std::shared_ptr<const BlockSizes> of(std::int64_t capacity, std::int64_t group,
                                                     const Occurrence& occurrence) const;
};

/// Returns the all-to-all with blocks of the given sizes instead of full blocks. If `full` has a
/// predicted time, the time of the result is that of the rank that sends or receives the most.
/// REQUIRES: `full` is an all-to-all with direct messages between all ranks.
Collective with_sizes(const Collective& full, std::shared_ptr<const BlockSizes> sizes);

}  // namespace tutti::core
