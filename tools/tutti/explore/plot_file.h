#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::tools {

/// Checks, before the plot is made, that it can be written to `path`, which ends in .svg or .png,
/// or is "-" (an SVG to standard output) or "" (no plot). ERRORS (requests): the suffix is another
/// one; it is .png, but tutti-view, which draws PNGs, is not installed.
core::Expected<void> check_plot(const std::string& path);

/// Writes the SVG, or converts it to PNG. `inputs`: the files that are being read. ERRORS: as
/// write_file(); the PNG cannot be drawn.
core::Expected<void> write_plot(const std::string& path, const std::vector<std::string>& inputs,
                                const std::string& svg);

}  // namespace tutti::tools
