#include "real/worker/machine.h"

#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <fstream>

namespace tutti::real {

std::string clock_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string boot;
  if (!std::getline(file, boot)) return {};
  std::array<char, 64> space{};
  const ssize_t length = ::readlink("/proc/self/ns/time", space.data(), space.size());
  return boot + " " + std::string(space.data(), length > 0 ? static_cast<std::size_t>(length) : 0);
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "?";
}

std::size_t allow_many_files() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 1024;
  if (limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0)
      static_cast<void>(::getrlimit(RLIMIT_NOFILE, &limit));
  }
  return limit.rlim_cur;
}

}  // namespace tutti::real
