#pragma once

#include <string>

#include "core/explore/outcome.h"

namespace tutti::core {

/// By how much two settings on one cluster may differ in measurements though they cost the same: neighbouring bucket sizes of a
/// published sweep of PyTorch DDP (23 sizes, means of 20 steps) differ so much from one to the next, in 19 of 20 cases.
/// SOURCE: pytorch/pytorch benchmarks/distributed/ddp/compare/README.md; tests/reference/workloads/ddp_bucket_sweep.json.
inline constexpr double kVisibleShare = 0.0123;
/// What of a predicted gain may not come: predicted differences between packings on one cluster are off by so much of themselves.
inline constexpr double kGainError = 0.5;

/// Whether a setting is worth changing for another.
struct Advice {
  bool change = false;
  double gain = 0;        ///< predicted, a share of the step now
  double least_gain = 0;  ///< what is left of it if the prediction errs as it may
  std::string why;        ///< a sentence
};
/// REQUIRES: both are done.
Advice recommend(const Outcome& now, const Outcome& best);

}  // namespace tutti::core
