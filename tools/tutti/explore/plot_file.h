#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::tools {

/// Checks, before there is a plot, that it can be written to `path`: .svg, .png, "-" (an SVG to
/// standard output), or "" (no plot). ERRORS (requests): another suffix; a PNG if the window's
/// program, which draws it, is not installed.
core::Expected<void> check_plot(const std::string& path);

/// Writes an SVG, or draws it as a PNG. `inputs`: the files that are being read. ERRORS: as
/// write_file(); it cannot be drawn.
core::Expected<void> write_plot(const std::string& path, const std::vector<std::string>& inputs,
                                const std::string& svg);

}  // namespace tutti::tools
