#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace tutti::real {

/// Emulates a device whose work needs a core: executes one job after the other, each for a given
/// time on a core. If there are fewer cores than threads, computation and communication slow each
/// other down, as on real machines.
class BusyThread {
 public:
  using Clock = std::chrono::steady_clock;
  using Job = std::int64_t;

  BusyThread();
  /// Drops jobs that have not begun.
  ~BusyThread();
  BusyThread(const BusyThread&) = delete;
  BusyThread& operator=(const BusyThread&) = delete;

  /// Adds a job after the earlier ones.
  Job begin(std::chrono::nanoseconds core_time);
  struct Done {
    Clock::time_point start, end;
  };
  /// Returns when the job ran, and forgets it; nothing if it is not done yet.
  std::optional<Done> take(Job job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Job, std::chrono::nanoseconds>> waiting_;
  std::map<Job, Done> done_;
  Job last_ = 0;
  bool ends_ = false;
  std::thread thread_;  // last, so that everything it uses is constructed before it
};

}  // namespace tutti::real
