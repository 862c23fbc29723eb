#pragma once

#include <string>

namespace tutti::core {

/// The folder with the shipped machines, models and layer times: $TUTTI_DATA if it is set; else
/// share/tutti beside the program's own bin folder, where an installation has it; else the source
/// tree that the program was built from.
std::string library_folder();

}  // namespace tutti::core
