#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::tools {

/// Where the kernel says how much memory there is. Tests have files of their own.
struct MemoryFiles {
  std::string meminfo = "/proc/meminfo";
  std::string groups = "/proc/self/cgroup";  ///< the control groups of this process
  std::string cgroup = "/sys/fs/cgroup";     ///< the folder in which they lie
};

/// Memory in bytes that a process can still take without harm to others: what the kernel calls available (`MemAvailable` of
/// proc(5)'s meminfo), or what its control groups leave if that is less: the limit less the usage of each of them up to the
/// root, where pages of files that can be dropped do not count as used. (`memory.max`, `memory.current` and `inactive_file`
/// of `memory.stat` of the kernel's cgroup-v2.rst; `memory.limit_in_bytes`, `memory.usage_in_bytes` and
/// `total_inactive_file` of cgroup-v1/memory.rst.) Files that are not there or say nothing limit nothing; nothing if all do
/// not.
std::optional<std::uint64_t> free_memory(const MemoryFiles& files = {});

/// From here on allocations fail, and the command ends with a message, where the machine would have nothing left: a simulation
/// that is too large for it must not take others down, nor be killed without a word.
void stay_within_memory();

/// Of stay_within_memory, in bytes; nothing if it set no limit.
std::optional<std::uint64_t> memory_limit();

}  // namespace tutti::tools
