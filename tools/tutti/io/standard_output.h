#pragma once

#include <string>

namespace tutti::tools {

/// Writes to standard output unchanged, including colors. The text must be safe to print on a
/// terminal. Returns the exit status. All other output is written with print_out() or
/// print_report(), which make texts from files safe.
int write_out(const std::string& text);

/// Called by signal handlers that end the program. With `--format json`, writes the error that says
/// that the command was stopped, unless a result or another error has been written.
void write_stopped_error();

}  // namespace tutti::tools
