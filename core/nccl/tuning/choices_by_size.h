#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/tuning/choice.h"
#include "core/nccl/tuning/model.h"

namespace tutti::core::nccl {

/// A range of sizes in bytes for which NCCL chooses the same algorithm, protocol and number of
/// channels. It includes `first` and `last`.
struct ChoiceRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  Choice choice;  ///< choice for the range; the number of threads and the estimate apply to the
                  ///< size `first`
};

/// Returns NCCL's choices for all sizes from 0 to the largest 64-bit number, as ranges in ascending
/// order without gaps. `like` specifies the function, type and reduction. Cost: several thousand
/// calls of choose(). ERRORS: the errors of choose().
Expected<std::vector<ChoiceRange>> choices_by_size(const Communicator& communicator,
                                                   const Model& model, const Operation& like);

}  // namespace tutti::core::nccl
