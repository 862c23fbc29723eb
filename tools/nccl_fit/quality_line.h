#pragma once

#include <string>

#include "core/measured/quality.h"

namespace tutti::nccl_fit {

/// Returns a row of the table of errors: `what`, followed by the statistics in columns. If `what`
/// has more than 72 characters, only the first 72 characters are shown.
std::string quality_line(const std::string& what, const core::nccl::Quality& quality);

}  // namespace tutti::nccl_fit
