#pragma once

#include "core/base/error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tutti::tools {

/// Returns the error message for an invalid command line: the unknown argument, and a suggestion.
/// REQUIRES: `app` threw `error` when it parsed the arguments; `error` is not the request for help
/// or version.
core::Error wrong_words(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tutti::tools
