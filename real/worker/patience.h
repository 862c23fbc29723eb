#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include <fmt/format.h>

namespace tutti::real {

/// What a worker says that has waited in vain for so long, and for what.
inline std::string nothing_moved(std::chrono::duration<double> waited, const std::string& where) {
  return fmt::format("nothing has moved for {:g} s: {}", waited.count(), where);
}

/// For how long the other end of a control connection may say nothing before it counts as gone: the timeout. Never less than
/// three seconds, since who is there says so every second, or later where the machine is busy.
inline std::chrono::steady_clock::duration longest_silence(std::chrono::duration<double> timeout) {
  const auto least = std::chrono::duration<double>(3);
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::max(timeout, least));
}

}  // namespace tutti::real
