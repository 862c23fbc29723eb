#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace tutti::real {

inline constexpr std::string_view kNothingMoved = "nothing has moved for ";

/// What a worker says that has waited in vain for so long, and for what.
inline std::string nothing_moved(std::chrono::duration<double> waited, const std::string& where) {
  return fmt::format("{}{:g} s: {}", kNothingMoved, waited.count(), where);
}

/// An error says only that: somebody else knows why.
inline bool only_waited(std::string_view text) { return text.starts_with(kNothingMoved); }

}  // namespace tutti::real
