#pragma once

#include <string>
#include <vector>

namespace tutti::tools {

/// Where tutti-view should be: beside this program.
std::string window_program();

/// `tutti view`: becomes tutti-view, the window's own program, which lies beside this one where Qt was there to build it.
/// What the words mean is its business.
int view(const std::vector<std::string>& words);

}  // namespace tutti::tools
