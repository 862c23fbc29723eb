#pragma once

#include <string>
#include <vector>

#include "core/nccl/calibration/calibration.h"
#include "core/nccl/collective_time.h"
#include "tools/tutti/calibrate.h"

namespace tutti::tools {

/// A suggested measurement.
struct Suggestion {
  core::CollectiveKind kind = core::CollectiveKind::kAllReduce;
  int nodes = 1;
  /// The expected median ratio of the upper to the lower end of error bands after this
  /// measurement.
  double width = 1;
};

/// The uncertainty of predicted times, and measurements that reduce it.
struct Suggestions {
  double width = 1;  ///< the current median ratio between the ends of error bands, over all times
                     ///< that a user may request
  std::vector<Suggestion> best;  ///< suggestions, narrowest band first
};

/// Ranks possible measurements by the expected width of error bands after the measurement. The
/// bands are the error bands of all collectives on the cluster's nodes, from 1 KiB to 1 GiB. The
/// widths do not depend on measured times, because the variance of a Gaussian process depends only
/// on the points of measurement. ERRORS: those of nccl_subject().
core::Expected<Suggestions> suggestions(const core::nccl::Calibration& calibration,
                                        const CalibrateOptions& options,
                                        const core::nccl::Parameters& figures,
                                        const core::nccl::ErrorBands& bands,
                                        const Environment& environment);

}  // namespace tutti::tools
