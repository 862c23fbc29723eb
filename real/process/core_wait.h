#pragma once

#include <chrono>

namespace tutti::real {

/// For how long the calling thread stood ready to run while its cores ran others, as the kernel counts it (the second number of
/// /proc/thread-self/schedstat, in nanoseconds). That is the most that sharing cores has cost it: a thread that offers
/// its core while it waits for a peer (transport/waiting.h) stands ready as well.
/// Cost: a system call of a microsecond per lap.
class CoreWait {
 public:
  /// Of the calling thread, from now on.
  CoreWait();
  ~CoreWait();
  CoreWait(const CoreWait&) = delete;
  CoreWait& operator=(const CoreWait&) = delete;

  /// Since it was made, or since the last lap. 0 where the kernel does not count it.
  std::chrono::nanoseconds lap();

 private:
  [[nodiscard]] std::chrono::nanoseconds so_far() const;

  int file_;
  std::chrono::nanoseconds last_{};
};

}  // namespace tutti::real
