#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/edit/overrides.h"
#include "core/explore/axis.h"

namespace tutti::tools {

/// --points and --over, in this order. ERRORS (requests): the file; as parse_axis() and read_points().
core::Expected<std::vector<core::Axis>> axes_of(const std::string& points, const std::vector<std::string>& over);
/// --set. ERRORS (requests): as parse_override().
core::Expected<std::vector<core::Override>> settings_of(const std::vector<std::string>& set);
/// Writes a file as a whole. ERRORS: as OutputFile.
core::Expected<void> write_file(const std::string& path, const std::vector<std::string>& inputs,
                                const std::function<void(std::ostream&)>& write);
/// So many, or as many as there are cores if it is 0.
int threads_of(int asked);

}  // namespace tutti::tools
