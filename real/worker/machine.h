#pragma once

#include <string>

namespace tutti::real {

/// Identifies the monotonic clock that this process reads: processes with the same text read the
/// same one (the kernel's boot, and the time namespace within it). Empty if the system does not
/// tell; then the clock counts as shared with no other process.
std::string clock_identity();
std::string host_name();

/// Raises this process's limit of open files as far as the system allows. Returns the new limit.
std::size_t allow_many_files();

}  // namespace tutti::real
