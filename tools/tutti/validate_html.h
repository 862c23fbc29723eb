#pragma once

#include <string>
#include <vector>

#include "core/measured/validation.h"

namespace tutti::tools {

/// Returns the cells of a row in a table of errors: number of rows, median, mean, 90th percentile,
/// bias, share inside the bands, their width and score.
std::vector<std::string> quality_cells(const std::string& name, const core::nccl::Quality& q,
                                       const core::nccl::BandQuality& bands);

/// Returns a page with a log-log plot of every table, measured and predicted. It is self-contained.
std::string validation_page(const core::nccl::Validation& validation);

}  // namespace tutti::tools
