#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::tools {

/// Memory in bytes that a process can still take without harm to others: what the kernel calls available (`MemAvailable` of
/// proc(5)'s meminfo), or what its control group leaves if that is less (`memory.max` less `memory.current` of the kernel's
/// cgroup-v2.rst). Files that are not there or say nothing limit nothing; nothing if both do not.
std::optional<std::uint64_t> free_memory(const std::string& meminfo_file, const std::string& cgroup_folder);

/// From here on allocations fail, and the command ends with a message, where the machine would have nothing left: a simulation
/// that is too large for it must not take others down, nor be killed without a word.
void stay_within_memory();

/// Of stay_within_memory, in bytes; nothing if it set no limit.
std::optional<std::uint64_t> memory_limit();

}  // namespace tutti::tools
