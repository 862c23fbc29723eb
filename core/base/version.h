#pragma once

#include <string_view>

namespace tutti::core {

/// "0.1.0": of this program, as the top CMakeLists.txt has it.
std::string_view version();

}  // namespace tutti::core
