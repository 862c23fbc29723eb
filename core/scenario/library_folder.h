#pragma once

#include <string>

namespace tutti::core {

/// Returns the folder with Tutti's machines, models and layer times. The folder is $TUTTI_DATA if
/// this environment variable is set. Otherwise, the folder is share/tutti next to the bin folder of
/// an installed program, or else the first of these that exists: the source tree from which the
/// program was built, and the folder of the installed package.
std::string library_folder();

}  // namespace tutti::core
