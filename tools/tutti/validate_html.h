#pragma once

#include <string>
#include <vector>

#include "core/measured/validation.h"

namespace tutti::tools {

/// Returns the cells of a row in a table of errors: the number of measurements, the median, mean,
/// 90th percentile and bias of the error, the share inside the error bands, and the width and the
/// score of the bands.
std::vector<std::string> quality_cells(const std::string& name, const core::nccl::Quality& q,
                                       const core::nccl::BandQuality& bands);

/// Returns a self-contained HTML page with a log-log plot of the measured and predicted times of
/// every table.
std::string validation_page(const core::nccl::Validation& validation);

}  // namespace tutti::tools
