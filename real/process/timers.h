#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace tutti::real {

/// Runs actions at given times of the monotonic clock.
///
/// An action runs late if the process was asleep, or if another process used the core. If later
/// actions were scheduled relative to the actual time, the delays of actions would add up along
/// every chain of actions. While an action runs, now() therefore returns the time at which the
/// action was due, unless the delay is more than `tolerance`.
class Timers {
 public:
  using Clock = std::chrono::steady_clock;
  using Action = std::function<void()>;

  explicit Timers(std::chrono::microseconds tolerance) : tolerance_(tolerance) {}
  /// Makes a timer queue that reads the time from `clock` instead of the machine's monotonic clock.
  Timers(std::chrono::microseconds tolerance, std::function<Clock::time_point()> clock)
      : tolerance_(tolerance), clock_(std::move(clock)) {}

  void at(Clock::time_point when, Action action);

  /// Runs the actions that are due, in order of their times. Actions with equal times run in the
  /// order of the calls of at(). Calls `after` after each action. Cost of each action: logarithmic
  /// in the number of pending actions.
  void run_due(const std::function<void()>& after);
  /// Returns the time at which the next action is due; max() if there is no action.
  [[nodiscard]] Clock::time_point next() const {
    return queue_.empty() ? Clock::time_point::max() : queue_.top().when;
  }
  /// Inside an action, returns the time at which the action was due, unless the delay is more than
  /// `tolerance`. Outside of run_due(), returns the clock's time.
  [[nodiscard]] Clock::time_point now() const { return handling_ ? moment_ : clock_(); }
  /// Returns the clock's time, even while an action runs.
  [[nodiscard]] Clock::time_point clock() const { return clock_(); }

 private:
  struct Entry {
    Clock::time_point when;
    std::uint64_t number = 0;
    mutable Action action;  // mutable, so that it can be moved from the top of the queue
    bool operator<(const Entry& other) const {
      return when != other.when ? when > other.when : number > other.number;
    }
  };
  Clock::duration tolerance_;
  std::function<Clock::time_point()> clock_ = Clock::now;
  std::priority_queue<Entry> queue_;
  std::uint64_t number_ = 0;
  bool handling_ = false;
  Clock::time_point moment_;
};

}  // namespace tutti::real
