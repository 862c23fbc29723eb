#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::tools {

/// Checks that a plot can be written to `path`. The path must end in .svg or .png, or be "-" (an
/// SVG to standard output) or "" (no plot). To be called before the plot is made. ERRORS
/// (kRequest): `path` has another suffix; or the suffix is .png, and tutti-view, which draws PNGs,
/// is not installed.
core::Expected<void> check_plot(const std::string& path);

/// Writes the plot as SVG, or as PNG if `path` ends in .png. `inputs` are the command's input
/// files, which are not overwritten. ERRORS: an error of write_file(); the PNG cannot be drawn.
core::Expected<void> write_plot(const std::string& path, const std::vector<std::string>& inputs,
                                const std::string& svg);

}  // namespace tutti::tools
