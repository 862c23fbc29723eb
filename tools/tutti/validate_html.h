#pragma once

#include <string>
#include <vector>

#include "core/measured/validation.h"

namespace tutti::tools {

/// A row of a table on errors: rows, median, mean, 90th percentile, bias, share inside the bands, their width and score.
std::vector<std::string> quality_cells(const std::string& name, const core::nccl::Quality& q,
                                       const core::nccl::BandQuality& bands);

/// A page with a log-log plot of every table, measured and predicted. It needs no other file.
std::string validation_page(const core::nccl::Validation& validation);

}  // namespace tutti::tools
