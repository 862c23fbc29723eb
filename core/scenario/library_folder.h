#pragma once

#include <string>

namespace tutti::core {

/// Returns the folder with Tutti's machines, models and layer times: $TUTTI_DATA if it is set;
/// otherwise share/tutti next to the bin folder of an installed program; otherwise the source tree
/// that the program was built from.
std::string library_folder();

}  // namespace tutti::core
