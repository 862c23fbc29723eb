#include "tools/tutti/io/memory_limit.h"

#include <sys/resource.h>

#include <algorithm>
#include <fstream>

#include <fmt/format.h>

namespace tutti::tools {
namespace {

std::optional<std::uint64_t> limit_set;

std::optional<std::uint64_t> number_in(const std::string& file) {
  std::ifstream in(file);
  std::uint64_t number = 0;
  if (in >> number) return number;
  return std::nullopt;  // no such file, or "max"
}

/// Finds a line that begins with `name`, and returns the number that follows the name.
std::optional<std::uint64_t> number_of(const std::string& name, const std::string& file) {
  std::ifstream in(file);
  std::string word, rest;
  while (in >> word) {
    std::uint64_t number = 0;
    if (word == name && in >> number) return number;
    in.clear();
    std::getline(in, rest);
  }
  return std::nullopt;
}

/// The names of the files with a control group's memory, which differ between versions 1 and 2 of
/// control groups.
struct GroupFiles {
  std::string limit, usage, cache;
};
const GroupFiles kVersion1{"/memory.limit_in_bytes", "/memory.usage_in_bytes",
                           "total_inactive_file"};
const GroupFiles kVersion2{"/memory.max", "/memory.current", "inactive_file"};

/// Lowers `free` to the memory that is left in the control group at `path` in `folder`, and in all
/// groups that contain this group. In a container, `path` may be a path on the host, so missing
/// directories are skipped.
void limit_by(const std::string& folder, std::string path, const GroupFiles& files,
              std::optional<std::uint64_t>& free) {
  while (true) {
    while (!path.empty() && path.back() == '/') path.pop_back();
    const std::string group = folder + path;
    if (const auto most = number_in(group + files.limit)) {
      const std::uint64_t usage = number_in(group + files.usage).value_or(0);
      const std::uint64_t cache = number_of(files.cache, group + "/memory.stat").value_or(0);
      const std::uint64_t taken = usage - std::min(usage, cache);
      const std::uint64_t left = *most - std::min(*most, taken);
      free = std::min(free.value_or(left), left);
    }
    if (path.empty()) return;
    path.erase(path.rfind('/'));
  }
}

/// Parses a line of the list of a process's control groups. Returns the path of the group that
/// limits memory, such as /a/b in "4:cpu,memory:/a/b" (version 1) or "0::/a/b" (version 2).
std::optional<std::string> path_in(const std::string& line, bool version_2) {
  const std::size_t first = line.find(':');
  const std::size_t second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos) return std::nullopt;
  const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
  const bool fits =
      version_2 ? controllers == ",," : controllers.find(",memory,") != std::string::npos;
  const std::string path = line.substr(second + 1);
  return fits && path.starts_with('/') ? std::optional(path) : std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> free_memory(const MemoryFiles& files) {
  std::optional<std::uint64_t> free = number_of("MemAvailable:", files.meminfo);
  if (free) *free *= 1024;  // from kB to bytes
  std::string path_1 = "/", path_2 = "/";
  std::ifstream groups(files.groups);
  for (std::string line; std::getline(groups, line);) {
    path_1 = path_in(line, false).value_or(path_1);
    path_2 = path_in(line, true).value_or(path_2);
  }
  limit_by(files.cgroup, path_2, kVersion2, free);
  limit_by(files.cgroup + "/memory", path_1, kVersion1, free);
  return free;
}

void stay_within_memory() {
#ifndef TUTTI_SANITIZED  // sanitizers' shadow memory exceeds any limit
  const auto free = free_memory();
  rlimit limit{};
  if (!free || getrlimit(RLIMIT_DATA, &limit) != 0) return;
  if (limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur <= *free) return;
  limit.rlim_cur = *free;
  if (setrlimit(RLIMIT_DATA, &limit) == 0) limit_set = free;
#endif
}

std::string describe_memory_limit() {
  const auto soft_limit = [](auto resource) -> rlim_t {
    rlimit limit{};
    return getrlimit(resource, &limit) == 0 ? limit.rlim_cur : RLIM_INFINITY;
  };
  const auto gb = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1e9; };
  const rlim_t address_space = soft_limit(RLIMIT_AS), data = soft_limit(RLIMIT_DATA);
  if (address_space != RLIM_INFINITY && address_space <= data)
    return fmt::format("ulimit -v is {:.1f} GB", gb(address_space));
  if (data == RLIM_INFINITY) return "";
  return limit_set ? fmt::format("{:.1f} GB were free", gb(*limit_set))
                   : fmt::format("ulimit -d is {:.1f} GB", gb(data));
}

}  // namespace tutti::tools
