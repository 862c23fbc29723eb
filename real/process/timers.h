#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <queue>
#include <vector>

namespace tutti::real {

/// Actions at given moments of the monotonic clock.
///
/// A process runs an action late if it sleeps or another process has its core. If following actions
/// were scheduled relative to the real time, delays would add up along every chain. So while an
/// action runs, now() is the time for which it was due, unless that is more than `forgiven` ago.
class Timers {
 public:
  using Clock = std::chrono::steady_clock;
  using Action = std::function<void()>;

  explicit Timers(std::chrono::microseconds forgiven) : forgiven_(forgiven) {}
  /// Uses another clock than the machine's.
  Timers(std::chrono::microseconds forgiven, std::function<Clock::time_point()> clock)
      : forgiven_(forgiven), clock_(std::move(clock)) {}

  void at(Clock::time_point when, Action action);

  /// Runs the actions that are due in order of time, those of equal times in the order in which
  /// they were added; calls `after` after each. Cost: log n each.
  void run_due(const std::function<void()>& after);
  /// Returns when the next action is due; max() if there is none.
  [[nodiscard]] Clock::time_point next() const {
    return queue_.empty() ? Clock::time_point::max() : queue_.top().when;
  }
  /// Returns the time for which the running action was due; outside of run_due(), the clock's time.
  [[nodiscard]] Clock::time_point now() const { return handling_ ? moment_ : clock_(); }
  /// Returns the clock's time, also while an action runs.
  [[nodiscard]] Clock::time_point clock() const { return clock_(); }

 private:
  struct Entry {
    Clock::time_point when;
    std::uint64_t number = 0;
    mutable Action action;  // taken out of the queue's top
    bool operator<(const Entry& other) const {
      return when != other.when ? when > other.when : number > other.number;
    }
  };
  Clock::duration forgiven_;
  std::function<Clock::time_point()> clock_ = Clock::now;
  std::priority_queue<Entry> queue_;
  std::uint64_t number_ = 0;
  bool handling_ = false;
  Clock::time_point moment_;
};

}  // namespace tutti::real
