#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/scenario/library.h"
#include "core/text/report.h"

namespace tutti::tools {

/// Exit statuses. Scripts rely on them.
enum ExitStatus : int {
  kDone = 0,
  kRunFailed = 1,    ///< the run failed or was interrupted
  kWrongRequest = 2  ///< the request was invalid and nothing was done
};

enum class Format { kText, kJson };
/// Parses the value of --format. ERRORS: the value is neither "text" nor "json".
core::Expected<Format> format_of(const std::string& written);

/// The environment in which every command runs.
struct Environment {
  core::Library library;
};

/// Called once after a command line with `--format json` has been parsed. From then on, report()
/// also stores the first error as JSON: `{"error": {"status": …, "problems": […]}}`, with the code,
/// field and position of each problem.
void report_errors_as_json();
/// Writes the stored error to stdout, unless the command has already printed a result. Called at
/// the end of the program.
void write_reported_error();

/// Prints an error to stderr, with one line per problem. Returns the exit status of the error.
int report(const core::Error& error);

/// Returns the error of a rejected request. The message is formatted by fmt::format.
template <class... Args>
tl::unexpected<core::Error> refused(core::ProblemKind kind, fmt::format_string<Args...> format,
                                    Args&&... args) {
  return tl::unexpected(
      core::Error::request(std::move(kind), fmt::format(format, std::forward<Args>(args)...)));
}
/// Returns the error of `result`, converted so that a function with another result type can return
/// it.
template <class T>
tl::unexpected<core::Error> failed(const core::Expected<T>& result) {
  return tl::unexpected(result.error());
}
/// Reports a rejected request. Returns the exit status.
template <class... Args>
int refuse(core::ProblemKind kind, fmt::format_string<Args...> format, Args&&... args) {
  return report(refused(std::move(kind), format, std::forward<Args>(args)...).value());
}
/// Selects which messages commands write to standard error. Errors are always written.
enum class Verbosity {
  kNone,    ///< --quiet: no messages
  kNormal,  ///< default: writes notes, and progress if standard error is a terminal
  kVerbose  ///< --verbose: also writes progress as lines if standard error is not a terminal
};
/// Called once, after the command line has been parsed.
void set_verbosity(Verbosity set);
Verbosity verbosity();

/// Prints an informational message to stderr, unless --quiet is set. Ignores write errors.
void print_note(const std::string& text);

/// The version of the JSON output of commands (docs/reports.md states the guarantees). The version
/// is incremented if a field is removed or changes its meaning. New fields do not increment the
/// version.
inline constexpr int kSchemaVersion = 1;

/// Returns a command's result as JSON: `schema_version`, `tutti_version` (unless the report already
/// has this field), and the report.
std::string result_json(const core::Report& report);

/// Writes to stdout. Returns the exit status. If the text could not be written completely, returns
/// the result of stdout_failed().
int print_out(const std::string& text);

/// Handles a failure to write to standard output; `error` is the errno. Reports a full disk. If the
/// reader of a pipe (such as `head`) has closed the pipe, this is not reported, because the reader
/// needs no more data. Returns kRunFailed in both cases.
int stdout_failed(int error);

/// Returns a copy of the error in which all problems without a field refer to the option `option`.
core::Error about(const std::string& option, core::Error error);

/// Parses one of the choices of a command line option. ERRORS: the value is not a valid choice. The
/// message lists the valid choices.
template <class T, class Parse>
core::Expected<T> choice(const std::string& option, const std::string& written,
                         const std::string& choices, Parse parse) {
  if (const auto value = parse(written)) return *value;
  return tl::make_unexpected(
      core::Error::request({core::ProblemCode::kUnknownName, option},
                           fmt::format("{} {}: expected one of {}", option, written, choices)));
}

/// Returns the problem of an option whose number is out of range: "too large" if the number is
/// above `largest`, else "too small". REQUIRES: the number is out of range.
template <class Number>
core::ProblemKind out_of_range(const std::string& option, Number written, double largest) {
  const bool above = static_cast<double>(written) > largest;
  return {above ? core::ProblemCode::kTooLarge : core::ProblemCode::kTooSmall, option};
}

}  // namespace tutti::tools
