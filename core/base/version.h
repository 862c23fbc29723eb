#pragma once

#include <string_view>

namespace tutti::core {

/// Returns the version of this program, as set in the top-level CMakeLists.txt: "0.1.0".
std::string_view version();

}  // namespace tutti::core
