#pragma once

#include <string>
#include <vector>

#include "core/edit/overrides.h"
#include "core/explore/axis.h"

namespace tutti::tools {

/// Returns the axes of --points, then the axes of --over. ERRORS (kRequest): the file of --points
/// cannot be read; an error of parse_axis() or read_points().
core::Expected<std::vector<core::Axis>> axes_of(const std::string& points,
                                                const std::vector<std::string>& over);
/// Returns `requested`, or the number of cores if `requested` is 0.
int threads_of(int requested);

}  // namespace tutti::tools
