#pragma once

#include <cstdint>
#include <memory>

#include "core/schedule/block_sizes.h"
#include "core/strategy/collective.h"

namespace tutti::core {

/// One time that a collective of a plan is carried out. The same on all replicas.
struct Occurrence {
  std::uint64_t seed = 0;  ///< of the run
  std::int32_t step = 0;
  std::int64_t number = 0;  ///< among those of the same collective in this step
};

/// Sizes that change from one occurrence of an all-to-all to the next: of tokens that go to experts. A function of its settings and
/// arguments alone, so that all executors, and all processes of one, compute the same.
///
/// `capacity` elements of each block are the most. An expert (the replica that has it) is popular or not: in each pair of
/// occurrences, all that goes to it fills its blocks to a share of capacity that is drawn evenly between `least_filled_ppm` and
/// 1'000'000 millionths. The second of a pair brings back what the first gave out: tokens are dispatched, and combined.
struct VaryingSizes {
  std::int64_t least_filled_ppm = 1'000'000;

  [[nodiscard]] std::shared_ptr<const BlockSizes> of(std::int64_t capacity, std::int64_t group,
                                                     const Occurrence& occurrence) const;
};

/// The all-to-all with these sizes in place of full blocks: its schedule, and the time of one that is timed, which is that of the
/// rank that sends or receives most. REQUIRES: the collective is an all-to-all that every rank carries out directly.
Collective with_sizes(const Collective& full, std::shared_ptr<const BlockSizes> sizes);

}  // namespace tutti::core
