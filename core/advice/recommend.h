#pragma once

#include <string>

#include "core/explore/outcome.h"

namespace tutti::core {

/// The bound that 95 % of the observed errors of predicted differences do not exceed. A predicted
/// difference is the difference between the step times of two settings on the same cluster; its
/// error is stated as a share of the step time. The value was derived from the only published sweep
/// of bucket sizes that is described well enough to be simulated (PyTorch DDP, ResNet-50; its 23
/// sizes form 253 pairs). The value includes the scatter of the measurements in this sweep. A test
/// repeats the derivation.
/// SOURCE: pytorch/pytorch benchmarks/distributed/ddp/compare/README.md;
/// tests/reference/workloads/ddp_bucket_sweep.csv.
inline constexpr double kDifferenceError = 0.026;

/// A recommendation to keep the current setting or to replace it by another.
struct Advice {
  bool change = false;
  double gain = 0;  ///< predicted reduction of the step time, as a share of the current setting's
                    ///< step time
  /// The gain that remains if the predicted gain is too large by kDifferenceError. A negative value
  /// means that the change may make the step slower.
  double min_gain = 0;
  std::string why;  ///< reason, as a sentence
};
/// Returns a recommendation: either to keep the current setting, whose outcome is `now`, or to
/// change to the setting whose outcome is `best`. REQUIRES: both outcomes have the status kDone.
Advice recommend(const Outcome& now, const Outcome& best);

}  // namespace tutti::core
