#pragma once

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

namespace tutti::real {

inline constexpr std::string_view kNothingMoved = "nothing has moved for ";

/// What a worker says that has waited in vain for so long, and for what.
inline std::string nothing_moved(std::chrono::duration<double> waited, const std::string& where) {
  return fmt::format("{}{:g} s: {}", kNothingMoved, waited.count(), where);
}

/// For how long the other end of a control connection may say nothing before it counts as gone: the timeout. Never less than
/// three seconds, since who is there says so every second, or later where the machine is busy.
inline std::chrono::steady_clock::duration longest_silence(std::chrono::duration<double> timeout) {
  const auto least = std::chrono::duration<double>(3);
  return std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::max(timeout, least));
}

/// An error says only that: somebody else knows why.
inline bool only_waited(std::string_view text) { return text.starts_with(kNothingMoved); }

/// The worker that an error blames ("worker 3 has closed its connection"); nothing if it blames nobody.
inline std::optional<std::size_t> blamed_worker(std::string_view text) {
  constexpr std::string_view kWord = "worker ";
  if (!text.starts_with(kWord)) return std::nullopt;
  std::size_t worker = 0;
  const auto [stop, status] = std::from_chars(text.data() + kWord.size(), text.data() + text.size(), worker);
  if (status != std::errc()) return std::nullopt;
  return worker;
}

}  // namespace tutti::real
