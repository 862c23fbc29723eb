#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::tools {

/// The files in which the kernel reports memory. Tests replace them.
struct MemoryFiles {
  std::string meminfo = "/proc/meminfo";
  std::string groups =
      "/proc/self/cgroup";  ///< the file that lists the control groups of this process
  std::string cgroup = "/sys/fs/cgroup";  ///< the directory of the control groups
};

/// Returns the memory in bytes that this process can still use without harm to other programs. The
/// result is the memory that the kernel reports as available (`MemAvailable` in meminfo, proc(5)).
/// The result is lower if a control group of the process, or an ancestor of the group, has less
/// memory left. The memory left in a control group is the limit minus the usage. File pages that
/// can be dropped do not count as usage. Version 2 of control groups has these values in
/// `memory.max`, `memory.current` and `inactive_file` of `memory.stat` (cgroup-v2.rst of the
/// kernel); version 1 has them in `memory.limit_in_bytes`, `memory.usage_in_bytes` and
/// `total_inactive_file` (cgroup-v1/memory.rst). Files that are missing or have no value are
/// ignored. Returns nullopt if there is no limit.
std::optional<std::uint64_t> free_memory(const MemoryFiles& files = {});

/// Limits the memory of this process, so that allocations fail, and the command ends with a
/// message, before the machine runs out of memory. Without a limit, a simulation that is too large
/// could crash other programs, or be killed without a message.
void stay_within_memory();

/// Describes the lowest memory limit of this process, for the error after a failed allocation:
/// "23.4 GB were free", or "ulimit -v is 0.2 GB". Empty if there is no limit.
std::string describe_memory_limit();

}  // namespace tutti::tools
