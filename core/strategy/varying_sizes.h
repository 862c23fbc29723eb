#pragma once

#include <cstdint>
#include <memory>

#include "core/schedule/block_sizes.h"
#include "core/strategy/collective.h"

namespace tutti::core {

/// Identifies one execution of a collective of a plan. All replicas have the same occurrences.
struct Occurrence {
  std::uint64_t seed = 0;  ///< seed of the run's random numbers
  std::int32_t step = 0;
  std::int64_t number = 0;  ///< index among the executions of the same collective in this step
};

/// The block sizes of an all-to-all that vary between executions. The varying block sizes model
/// tokens that are sent to experts. The sizes depend only on settings and arguments, so that all
/// executors, and all processes of a run, compute the same sizes.
///
/// A block holds at most `capacity` elements. Experts (replicas) differ in popularity: for each
/// pair of executions and each expert, a share of the capacity is drawn uniformly between
/// `min_filled_ppm` and 1'000'000 millionths. All blocks sent to an expert are filled to the
/// expert's share. The first execution of a pair dispatches tokens; the second execution returns
/// the same numbers of tokens.
struct VaryingSizes {
  std::int64_t min_filled_ppm = 1'000'000;

  [[nodiscard]] std::shared_ptr<const BlockSizes> of(std::int64_t capacity, std::int64_t group,
                                                     const Occurrence& occurrence) const;
};

/// Returns the all-to-all with the given block sizes instead of full blocks. If `full` has a
/// predicted time, the result has the time of the rank that sends or receives the most. REQUIRES:
/// `full` is a direct all-to-all between all ranks.
Collective with_sizes(const Collective& full, std::shared_ptr<const BlockSizes> sizes);

}  // namespace tutti::core
