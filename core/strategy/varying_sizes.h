#pragma once

#include <cstdint>
#include <memory>

#include "core/schedule/block_sizes.h"
#include "core/strategy/collective.h"

namespace tutti::core {

/// One execution of a collective of a plan. It is the same on all replicas.
struct Occurrence {
  std::uint64_t seed = 0;  ///< seed of the run
  std::int32_t step = 0;
  std::int64_t number = 0;  ///< index among the executions of the same collective in this step
};

/// Sizes of an all-to-all that vary between executions: tokens that are sent to experts. They
/// depend only on settings and arguments, so that all executors, and all processes of a run,
/// compute the same sizes.
///
/// A block holds at most `capacity` elements. Experts (replicas) differ in popularity: for each
/// pair of executions, all blocks sent to an expert are filled to a share of the capacity that is
/// drawn uniformly between `min_filled_ppm` and 1'000'000 millionths. The second execution of a
/// pair returns what the first sent: tokens are dispatched, and combined.
struct VaryingSizes {
  std::int64_t min_filled_ppm = 1'000'000;

  [[nodiscard]] std::shared_ptr<const BlockSizes> of(std::int64_t capacity, std::int64_t group,
                                                     const Occurrence& occurrence) const;
};

/// Returns the all-to-all with these sizes in place of full blocks: its schedule and, if it has a
/// time, the time for the rank that sends or receives most. REQUIRES: a direct all-to-all between
/// all ranks.
Collective with_sizes(const Collective& full, std::shared_ptr<const BlockSizes> sizes);

}  // namespace tutti::core
