#include "real/join/worker_numbers.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::real {

std::string numbered_workers(const std::vector<std::int32_t>& workers) {
  return fmt::format("{} {}", workers.size() == 1 ? "worker" : "workers", fmt::join(workers, ", "));
}

}  // namespace tutti::real
