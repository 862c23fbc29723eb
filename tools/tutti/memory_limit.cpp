#include "tools/tutti/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

namespace tutti::tools {
namespace {

std::optional<std::uint64_t> limit_set;

std::optional<std::uint64_t> number_in(const std::string& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;  // not there, or "max"
}

std::optional<std::uint64_t> available(const std::string& meminfo_file) {
  std::ifstream in(meminfo_file);
  std::string name;
  std::uint64_t kib = 0;
  std::string unit;
  while (in >> name >> kib) {
    std::getline(in, unit);
    if (name == "MemAvailable:") return kib * 1024;
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> free_memory(const std::string& meminfo_file, const std::string& cgroup_folder) {
  std::optional<std::uint64_t> free = available(meminfo_file);
  const auto most = number_in(cgroup_folder + "/memory.max");
  if (most) {
    const std::uint64_t taken = number_in(cgroup_folder + "/memory.current").value_or(0);
    const std::uint64_t left = *most > taken ? *most - taken : 0;
    free = std::min(free.value_or(left), left);
  }
  return free;
}

void stay_within_memory() {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // their shadows are larger than any memory
  const auto free = free_memory("/proc/meminfo", "/sys/fs/cgroup");
  rlimit limit{};
  if (!free || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= *free) return;
  limit.rlim_cur = *free;
  if (setrlimit(RLIMIT_DATA, &limit) == 0) limit_set = free;
#endif
}

std::optional<std::uint64_t> memory_limit() { return limit_set; }

}  // namespace tutti::tools
