#pragma once

#include <string>

#include "core/explore/outcome.h"

namespace tutti::core {

/// The error of a predicted difference between two settings on one cluster, as a share of a step,
/// that 19 of 20 cases stay within. It is derived from the only published sweep of bucket sizes
/// that is described well enough to be simulated (PyTorch DDP, ResNet-50, 23 sizes, so 253 pairs),
/// and includes the scatter of its measurements. A test derives it again.
/// SOURCE: pytorch/pytorch benchmarks/distributed/ddp/compare/README.md;
/// tests/reference/workloads/ddp_bucket_sweep.csv.
inline constexpr double kDifferenceError = 0.026;

/// The advice whether to change one setting for another.
struct Advice {
  bool change = false;
  double gain = 0;  ///< predicted, as a share of the current step time
  /// The gain if the prediction errs by kDifferenceError; below 0: the change may be a loss.
  double min_gain = 0;
  std::string why;  ///< reason, as a sentence
};
/// Returns the advice. REQUIRES: both are done.
Advice recommend(const Outcome& now, const Outcome& best);

}  // namespace tutti::core
