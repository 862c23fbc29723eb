#pragma once

#include "core/base/error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tutti::tools {

/// Returns the error for an invalid command line in Tutti's own words: the unknown argument, and
/// what was probably meant. REQUIRES: `app` has parsed the arguments and threw `error`, which is
/// neither help nor version.
core::Error wrong_words(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tutti::tools
