#pragma once

#include <string>

#include "core/explore/outcome.h"

namespace tutti::core {

/// By what share of a step the predicted difference of two settings on one cluster may be wrong, in 19 of 20 cases: learned from the one
/// published sweep of bucket sizes that is described well enough to be simulated (PyTorch DDP, ResNet-50, 23 sizes, so 253 pairs); what
/// its measurements scatter by is in it. A test derives it again.
/// SOURCE: pytorch/pytorch benchmarks/distributed/ddp/compare/README.md; tests/reference/workloads/ddp_bucket_sweep.csv.
inline constexpr double kDifferenceError = 0.026;

/// Whether a setting is worth changing for another.
struct Advice {
  bool change = false;
  double gain = 0;        ///< predicted, a share of the step now
  double least_gain = 0;  ///< what is left of it if the difference is as wrong as it may be; below 0: it may be a loss
  std::string why;        ///< a sentence
};
/// REQUIRES: both are done.
Advice recommend(const Outcome& now, const Outcome& best);

}  // namespace tutti::core
