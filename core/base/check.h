#pragma once

#include <fmt/core.h>
#include <string_view>

namespace tutti::core {

/// Prints what was violated, where and with which values, then aborts. Used through TUTTI_CHECK
/// only.
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

/// Checks a condition that holds unless Tutti has a bug, in release builds too:
/// `TUTTI_CHECK(condition, "format", values…)`. A mistake of the user is an `Error`, never a check.
#define TUTTI_CHECK(condition, ...)                  \
  (__builtin_expect(static_cast<bool>(condition), 1) \
       ? static_cast<void>(0)                        \
       : ::tutti::core::detail::fail_check(__FILE__, __LINE__, #condition, __VA_ARGS__))
