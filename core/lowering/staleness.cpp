#include "core/lowering/staleness.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::core {

void UpdatesBehind::count(std::int64_t behind) {
  most = std::max(most, behind);
  sum += behind;
  ++updates;
}

void UpdatesBehind::add(const UpdatesBehind& others) {
  updates += others.updates;
  sum += others.sum;
  most = std::max(most, others.most);
}

void AsyncServersList::step_ended(std::int64_t worker, std::int32_t step, std::int32_t of,
                                  Time now) {
  if (through_) return;
  steps_[worker] = step + 1;
  until_ = now;
  through_ = step + 1 == of;
}

double AsyncServersList::steps_per_second() const {
  std::int64_t steps = 0;
  for (const std::int32_t s : steps_) steps += s;
  return until_ == Time() ? 0
                          : static_cast<double>(steps) * 1e12 / static_cast<double>(until_.count());
}

std::string AsyncServersList::describe(const UpdatesBehind& behind, bool until_steady) const {
  const auto [least, fastest] = std::minmax_element(steps_.begin(), steps_.end());
  return fmt::format(
      "asynchronous workers: {:.3g} steps/s for all {} workers together, measured until {} (at "
      "this time, the slowest worker has ended {} steps, and the fastest {}). Staleness: between "
      "the computation of a gradient and "
      "its update, {:.2f} updates by other workers occur on average, and at most {}",
      steps_per_second(), steps_.size(),
      until_steady ? "the steady state is known" : "the first worker ends", *least, *fastest,
      behind.mean(), behind.most);
}

}  // namespace tutti::core
