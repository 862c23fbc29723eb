#pragma once

#include <string>

namespace tutti::real {

/// Returns a text that identifies the monotonic clock of this process. The text consists of the
/// identifiers of the kernel's boot and of the time namespace. Processes with equal texts have the
/// same clock. Returns an empty text if the system does not identify its clock. A clock with an
/// empty text counts as different from the clock of any other process.
std::string clock_identity();
std::string host_name();

/// Raises this process's limit of open files as far as the system allows. Returns the new limit.
std::size_t allow_many_files();

}  // namespace tutti::real
