#pragma once

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

/// What every command gets.
struct Environment {
  core::Library library;
};

/// Prints an error, one line per problem, to stderr. Answers the exit status that goes with it.
int report(const core::Error& error);

/// Writes to stdout and reports if that fails (a full disk, a closed pipe).
int print_out(const std::string& text);

/// One of the choices of a command line option; an error that lists them if it is none.
template <class T, class Parse>
core::Expected<T> choice(const std::string& option, const std::string& written, const std::string& choices,
                         Parse parse) {
  if (const auto value = parse(written)) return *value;
  return tl::make_unexpected(core::Error::request(fmt::format("{} {}: expected one of {}", option, written, choices)));
}

}  // namespace tutti::tools
