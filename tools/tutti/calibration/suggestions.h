#pragma once

#include <string>
#include <vector>

#include "core/nccl/calibration/calibration.h"
#include "core/nccl/collective_time.h"
#include "tools/tutti/calibrate.h"

namespace tutti::tools {

/// A measurement that could be made next.
struct Suggestion {
  core::CollectiveKind kind = core::CollectiveKind::kAllReduce;
  int nodes = 1;
  double width = 1;  ///< expected median ratio of a band's upper to its lower end
};

/// Times that a user may ask for, and how sure they are.
struct Suggestions {
  double width = 1;              ///< present median ratio, over all times that a user may ask for
  std::vector<Suggestion> best;  ///< suggestions, narrowest band first
};

/// Ranks measurements by how much they would narrow the bands of all collectives on `nodes` nodes,
/// from 1 KiB to 1 GiB. The results do not matter for that: the variance of a Gaussian process
/// depends only on where it was measured. ERRORS: as nccl_subject().
core::Expected<Suggestions> suggestions(const core::nccl::Calibration& calibration,
                                        const CalibrateOptions& options,
                                        const core::nccl::Parameters& figures,
                                        const core::nccl::ErrorBands& bands,
                                        const Environment& environment);

}  // namespace tutti::tools
