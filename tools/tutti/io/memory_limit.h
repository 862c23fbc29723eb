#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::tools {

/// The files in which the kernel reports memory. Tests use their own files.
struct MemoryFiles {
  std::string meminfo = "/proc/meminfo";
  std::string groups = "/proc/self/cgroup";  ///< lists the control groups of this process
  std::string cgroup = "/sys/fs/cgroup";     ///< the directory of the control groups
};

/// Returns the bytes of memory that this process can still use without harm to others: the memory
/// that the kernel calls available (`MemAvailable` of proc(5)'s meminfo), or what its control
/// groups leave if that is less. A group leaves its limit minus its usage, not counting file pages
/// that can be dropped; all groups up to the root count. (`memory.max`, `memory.current` and
/// `inactive_file` of `memory.stat` in the kernel's cgroup-v2.rst; `memory.limit_in_bytes`,
/// `memory.usage_in_bytes` and `total_inactive_file` in cgroup-v1/memory.rst.) Files that are
/// missing or have no value limit nothing; nullopt if none of them limits.
std::optional<std::uint64_t> free_memory(const MemoryFiles& files = {});

/// Limits this process so that allocations fail, and the command ends with a message, before the
/// machine runs out of memory. A simulation that is too large must not take down other programs, or
/// be killed without a message.
void stay_within_memory();

/// Returns the limit that stay_within_memory() set, in bytes; nullopt if it set none.
std::optional<std::uint64_t> memory_limit();

}  // namespace tutti::tools
