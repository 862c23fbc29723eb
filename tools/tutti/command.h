#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/scenario/library.h"

namespace tutti::tools {

/// Exit statuses, as promised to scripts.
enum ExitStatus : int {
  kDone = 0,
  kRunFailed = 1,    ///< something went wrong while it ran, or it was interrupted
  kWrongRequest = 2  ///< nothing was done; the request has to change
};

enum class Format { kText, kJson };
/// The value of --format. ERRORS: it is neither "text" nor "json".
core::Expected<Format> format_of(const std::string& written);

/// What every command gets.
struct Environment {
  core::Library library;
};

/// With `--format json`: the first error that report() prints is kept as `{"error": {"status": …, "problems": […]}}`, with
/// the code, field and place of each problem. Said once, when the words are known.
void report_errors_as_json();
/// Writes that error to stdout, unless a result is there. Called at the end.
void write_reported_error();

/// Prints an error, one line per problem, to stderr. Answers the exit status that goes with it.
int report(const core::Error& error);

/// A request that is refused, in the words of fmt::format.
template <class... Args>
tl::unexpected<core::Error> refused(core::ProblemKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return tl::unexpected(core::Error::request(std::move(kind), fmt::format(format, std::forward<Args>(args)...)));
}
/// What was wrong, passed on.
template <class T>
tl::unexpected<core::Error> failed(const core::Expected<T>& result) {
  return tl::unexpected(result.error());
}
/// Reports it. Answers the exit status.
template <class... Args>
int refuse(core::ProblemKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return report(refused(std::move(kind), format, std::forward<Args>(args)...).value());
}
/// Says something on stderr that nobody has to hear: that stderr cannot be written to is no failure.
void tell(const std::string& text);

/// Writes to stdout. Answers the exit status: like stdout_failed() if not all of it arrived.
int print_out(const std::string& text);

/// Ends a command whose standard output took no more, for the reason `error` (an errno): reports a full disk, but says
/// nothing about a pipe that its reader has closed (`| head`) and so needs no more. Answers kRunFailed, in both cases.
int stdout_failed(int error);

/// The error with `option` as what its problems are about, where they do not say.
core::Error about(const std::string& option, core::Error error);

/// One of the choices of a command line option; an error that lists them if it is none.
template <class T, class Parse>
core::Expected<T> choice(const std::string& option, const std::string& written, const std::string& choices,
                         Parse parse) {
  if (const auto value = parse(written)) return *value;
  return tl::make_unexpected(core::Error::request({core::ProblemCode::kUnknownName, option},
                                                  fmt::format("{} {}: expected one of {}", option, written, choices)));
}

/// Returns the problem of an option whose number is out of range: too large if it is above
/// `largest`, else too small. REQUIRES: the number is out of range.
template <class Number>
core::ProblemKind out_of_range(const std::string& option, Number written, double largest) {
  const bool above = static_cast<double>(written) > largest;
  return {above ? core::ProblemCode::kTooLarge : core::ProblemCode::kTooSmall, option};
}

}  // namespace tutti::tools
