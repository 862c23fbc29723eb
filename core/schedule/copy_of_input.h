#pragma once

#include "core/schedule/step.h"

namespace tutti::core {

/// Returns a step that copies an out-of-place input to its in-place range `place`. The input is
/// stored `input_shift` elements after `place` (see Contract).
inline Step copy_of_input(const Range& place, std::int64_t input_shift) {
  Step step;
  step.kind = StepKind::kCopy;
  step.source = step.target = place;
  step.source.offset += input_shift;
  return step;
}

}  // namespace tutti::core
