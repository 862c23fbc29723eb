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

/// Stands in for a device whose work takes a core: does one thing after the other, each for so much time of a core. Where
/// cores are fewer than threads, computation and communication slow each other down, as they would.
class BusyThread {
 public:
  using Clock = std::chrono::steady_clock;
  using Job = std::int64_t;

  BusyThread();
  /// What has not begun is left undone.
  ~BusyThread();
  BusyThread(const BusyThread&) = delete;
  BusyThread& operator=(const BusyThread&) = delete;

  /// Puts a job behind those before.
  Job begin(std::chrono::nanoseconds core_time);
  struct Done {
    Clock::time_point start, end;
  };
  /// When the job was done, which is then forgotten; nothing if it is not yet.
  std::optional<Done> take(Job job);

 private:
  void work();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::pair<Job, std::chrono::nanoseconds>> waiting_;
  std::map<Job, Done> done_;
  Job last_ = 0;
  bool ends_ = false;
  std::thread thread_;  // last: everything it uses is there before it
};

}  // namespace tutti::real
