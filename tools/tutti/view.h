#pragma once

#include <string>
#include <vector>

namespace tutti::tools {

/// Returns the path at which tutti-view is expected: in the directory of this program.
std::string window_program();

/// `tutti view`: replaces this process by tutti-view, the program of the window. If Qt was
/// available at build time, tutti-view is in the same directory as this program. The program
/// tutti-view parses the arguments.
int view(const std::vector<std::string>& words);

}  // namespace tutti::tools
