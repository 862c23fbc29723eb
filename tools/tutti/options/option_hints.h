#pragma once

#include <string>

namespace tutti::tools {

/// Returns what to do instead of an option that a command does not have, but that users of other
/// commands or programs expect, such as -G, an option of nccl-tests that `tutti perf` does not
/// have. The text continues the message "unknown option -G" and begins with ": " or "; ". Empty if
/// there is no hint. `command` is the name of the command without "tutti", and `option` the option
/// with its hyphens.
std::string option_hint(const std::string& command, const std::string& option);

}  // namespace tutti::tools
