#pragma once

#include <string>

namespace tutti::tools {

/// Returns a hint for an unknown option that users know from another command or program. For
/// example, nccl-tests has an option -G, and `tutti perf` has none. The hint says what to do
/// instead. The text continues the message "unknown option -G", and begins with ": " or "; ". Empty
/// if there is no hint. `command` is the name of the command without "tutti", and `option` the
/// option with its hyphens.
std::string option_hint(const std::string& command, const std::string& option);

}  // namespace tutti::tools
