#pragma once

#include <string>
#include <vector>

namespace tutti::tools {

/// Returns where tutti-view should be: in the directory of this program.
std::string window_program();

/// `tutti view`: replaces this process by tutti-view, the window's own program, which is in the
/// same directory if Qt was available when it was built. tutti-view parses the arguments.
int view(const std::vector<std::string>& words);

}  // namespace tutti::tools
