#pragma once

#include <fmt/core.h>
#include <string_view>

namespace tutti::core {

/// Prints the violated condition, its source location and the formatted values, then aborts. Called
/// only by TUTTI_CHECK.
[[noreturn]] void check_failed(const char* file, int line, const char* condition,
                               fmt::string_view format, fmt::format_args args);

namespace detail {
template <class... Args>
[[noreturn]] void fail_check(const char* file, int line, const char* condition,
                             fmt::format_string<Args...> format, const Args&... args) {
  check_failed(file, line, condition, format, fmt::make_format_args(args...));
}
}  // namespace detail

}  // namespace tutti::core

/// Aborts if `condition` is false, in release builds too. A false condition must mean a bug in
/// Tutti: mistakes of users are reported as an `Error`. Usage: `TUTTI_CHECK(condition, "format",
/// values…)`.
#define TUTTI_CHECK(condition, ...)                  \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::tutti::core::detail::fail_check(__FILE__, __LINE__, #condition, __VA_ARGS__))
