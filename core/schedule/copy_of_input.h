#pragma once

#include "core/schedule/step.h"

namespace tutti::core {

/// From where an input lies to its place, which is `input_shift` in front of that (contract.h).
inline Step copy_of_input(const Range& place, std::int64_t input_shift) {
  Step step;
  step.kind = StepKind::kCopy;
  step.source = step.target = place;
  step.source.offset += input_shift;
  return step;
}

}  // namespace tutti::core
