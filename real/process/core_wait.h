#pragma once

#include <chrono>

namespace tutti::real {

/// Measures how long the calling thread was runnable while its cores ran other threads, as the
/// kernel counts it (the second number of /proc/thread-self/schedstat, in nanoseconds). This is an
/// upper bound of the cost of sharing cores: a thread that yields its core while it waits for a
/// peer (transport/waiting.h) is runnable as well.
/// Cost: a system call of a microsecond per lap.
class CoreWait {
 public:
  /// Starts to measure for the calling thread.
  CoreWait();
  ~CoreWait();
  CoreWait(const CoreWait&) = delete;
  CoreWait& operator=(const CoreWait&) = delete;

  /// Returns the time since construction or the last lap; 0 if the kernel does not count it.
  std::chrono::nanoseconds lap();

 private:
  [[nodiscard]] std::chrono::nanoseconds so_far() const;

  int file_;
  std::chrono::nanoseconds last_{};
};

}  // namespace tutti::real
