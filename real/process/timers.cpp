#include "real/process/timers.h"

#include <utility>

namespace tutti::real {

void Timers::at(Clock::time_point when, Action action) {
  queue_.push({when, ++number_, std::move(action)});
}

void Timers::run_due(const std::function<void()>& after) {
  while (!queue_.empty()) {
    const Clock::time_point now = clock_();
    if (queue_.top().when > now) return;
    const Clock::time_point when = queue_.top().when;
    const Action action = std::move(queue_.top().action);
    queue_.pop();
    handling_ = true;
    moment_ = now - when > tolerance_ ? now : when;
    action();
    after();
    handling_ = false;
  }
}

}  // namespace tutti::real
