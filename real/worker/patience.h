#pragma once

#include <algorithm>
#include <chrono>
#include <string>

#include <fmt/format.h>

namespace tutti::real {

/// Returns the error message for a worker that made no progress for `waited`. `where` describes the
/// event for which the worker waited.
inline std::string nothing_moved(std::chrono::duration<double> waited, const std::string& where) {
  return fmt::format("no progress for {:g} s: {}", waited.count(), where);
}

/// Returns how long the other end of a control connection may be silent before it is considered
/// gone. The result is the timeout, but at least three seconds, because heartbeats come every
/// second, or later on a busy machine.
inline std::chrono::steady_clock::duration longest_silence(std::chrono::duration<double> timeout) {
  const auto least = std::chrono::duration<double>(3);
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::max(timeout, least));
}

}  // namespace tutti::real
