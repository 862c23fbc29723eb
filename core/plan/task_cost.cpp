#include "core/plan/task_cost.h"

namespace tutti::core {

Time shares_of(Time time, std::span<const Share> parts, std::int64_t whole) {
  const auto total = static_cast<Wide>(time.count());
  const auto up_to = [&](std::int64_t part) {
    return static_cast<std::int64_t>(total * static_cast<Wide>(part) / static_cast<Wide>(whole));
  };
  Time sum;
  for (const Share& part : parts) sum += Time(up_to(part.to) - up_to(part.from));
  return sum;
}

}  // namespace tutti::core
