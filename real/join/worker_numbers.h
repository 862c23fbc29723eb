#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::real {

/// Returns "worker 2" or "workers 2, 3", for error messages.
std::string numbered_workers(const std::vector<std::int32_t>& workers);

}  // namespace tutti::real
