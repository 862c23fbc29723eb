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

/// A thread that emulates a device by keeping a core busy. The thread executes jobs in sequence.
/// Each job uses a core for a given time. If there are fewer cores than threads, computation and
/// communication slow each other down, as on real machines.
class BusyThread {
 public:
  using Clock = std::chrono::steady_clock;
  using Job = std::int64_t;

  BusyThread();
  /// Stops the thread. Jobs that have not begun are discarded.
  ~BusyThread();
  BusyThread(const BusyThread&) = delete;
  BusyThread& operator=(const BusyThread&) = delete;

  /// Adds a job after all earlier jobs. Returns the job's number for take().
  Job begin(std::chrono::nanoseconds core_time);
  struct Done {
    Clock::time_point start, end;
  };
  /// Returns the start and the end of the job, and removes the job; nullopt if the job is not
  /// complete.
  std::optional<Done> take(Job job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Job, std::chrono::nanoseconds>> waiting_;
  std::map<Job, Done> done_;
  Job last_ = 0;
  bool ends_ = false;
  std::thread thread_;  // last, so that the members that it uses are constructed before
};

}  // namespace tutti::real
