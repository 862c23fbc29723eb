#pragma once

#include <string>

namespace tutti::tools {

/// The regular files that the current command reads. Output files must not replace them: they may
/// be the user's only copy, and the command may read them again. Each thread has its own list,
/// because each thread calls one command at a time.

/// Empties the list; called when a command begins.
void clear_input_files();
/// Adds a file. A path that is not a regular file is ignored.
void add_input_file(const std::string& path);
/// Returns true if the path names a file of the list, possibly by another name or a link.
bool is_input_file(const std::string& path);

}  // namespace tutti::tools
