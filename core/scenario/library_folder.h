#pragma once

#include <string>

namespace tutti::core {

/// Returns the folder with Tutti's machines, models and layer times. The folder is $TUTTI_DATA if
/// this environment variable is set. Otherwise, the folder is the first of the following folders
/// that exists: share/tutti next to the program's bin folder, the folder of the source tree from
/// which the program was built, the folder into which this build is installed, and
/// /usr/share/tutti.
std::string library_folder();

}  // namespace tutti::core
