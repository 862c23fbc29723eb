#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"

namespace tutti::tools {

/// Whether a plot can be written there, before there is one: .svg, .png, "-" (an SVG to standard output), or "" (none is wanted).
/// ERRORS (requests): another name; a PNG, where the window's program, which draws it, is not there.
core::Expected<void> check_plot(const std::string& path);

/// Writes an SVG, or draws it as a PNG. `inputs`: files that are being read. ERRORS: as write_file(); it cannot be drawn.
core::Expected<void> write_plot(const std::string& path, const std::vector<std::string>& inputs,
                                const std::string& svg);

}  // namespace tutti::tools
