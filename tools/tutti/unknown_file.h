#pragma once

#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::tools {

/// Returns false if a file with these first bytes cannot be a scenario, because it has the format
/// of another kind of file, or does not begin with a field ("cluster {", "name: …").
bool may_be_scenario(std::string_view first_bytes);

/// Returns the error for a file that a command cannot read. The error names the command that can
/// read the file. If the format is unknown, the error lists the formats that Tutti reads. All
/// commands report unknown files with this error.
core::Error wrong_file(const std::string& path, std::string_view first_bytes);

}  // namespace tutti::tools
