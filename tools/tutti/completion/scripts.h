#pragma once

#include <string_view>

namespace tutti::tools::completion {

// The completion scripts in this folder, embedded in the program.
std::string_view bash();
std::string_view zsh();
std::string_view fish();

}  // namespace tutti::tools::completion
