#include "real/process/core_wait.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tutti::real {

CoreWait::CoreWait() : file_(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC)) {
  last_ = so_far();
}

CoreWait::~CoreWait() {
  if (file_ >= 0) ::close(file_);
}

std::chrono::nanoseconds CoreWait::lap() {
  const std::chrono::nanoseconds now = so_far();
  return std::max(std::chrono::nanoseconds(), now - std::exchange(last_, now));
}

/// The file has three numbers: the time for which the thread ran, the time for which it was
/// runnable but waited for a core, and its number of time slices.
std::chrono::nanoseconds CoreWait::so_far() const {
  char text[96];
  const ssize_t got = file_ >= 0 ? ::pread(file_, text, sizeof text - 1, 0) : -1;
  if (got <= 0) return last_;
  text[got] = '\0';
  char* second = nullptr;
  std::strtoll(text, &second, 10);
  return std::chrono::nanoseconds(std::strtoll(second, nullptr, 10));
}

}  // namespace tutti::real
