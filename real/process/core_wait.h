#pragma once

#include <chrono>

namespace tutti::real {

/// Measures how long the calling thread was runnable but did not run because other threads used the
/// cores. The kernel counts how long a thread waits for a core (second number of
/// /proc/thread-self/schedstat, in nanoseconds). The measured time is an upper bound of the cost of
/// sharing cores, because a thread that yields its core while it waits for a peer
/// (transport/waiting.h) also counts as runnable.
/// Cost: one system call of about a microsecond per measurement.
class CoreWait {
 public:
  /// Starts the measurement for the calling thread.
  CoreWait();
  ~CoreWait();
  CoreWait(const CoreWait&) = delete;
  CoreWait& operator=(const CoreWait&) = delete;

  /// Returns how long the thread has waited for a core since the last call, or since construction;
  /// 0 if the kernel does not count this time.
  std::chrono::nanoseconds lap();

 private:
  [[nodiscard]] std::chrono::nanoseconds so_far() const;

  int file_;
  std::chrono::nanoseconds last_{};
};

}  // namespace tutti::real
