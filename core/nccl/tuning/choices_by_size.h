#pragma once

#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/nccl/tuning/choice.h"
#include "core/nccl/tuning/model.h"

namespace tutti::core::nccl {

/// A range of sizes, from `first` to `last`, with the same algorithm, protocol and channels.
struct ChoiceRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
  Choice choice;  ///< the choice, with threads and estimate of the size `first`
};

/// Returns NCCL's choices for every size from 0 to the largest 64-bit one, in ascending order and
/// without gaps. `like` has the function, type and reduction. Cost: some thousand choices.
/// ERRORS: as choose().
Expected<std::vector<ChoiceRange>> choices_by_size(const Communicator& communicator,
                                                   const Model& model, const Operation& like);

}  // namespace tutti::core::nccl
