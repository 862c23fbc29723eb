#pragma once

#include "core/base/error.h"

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace tutti::tools {

/// What is wrong with the words of a command line, in our words: which one is not known, and what was probably meant.
/// REQUIRES: `app` has parsed them, and threw `error`, which is neither help nor version.
core::Error wrong_words(const CLI::App& app, const CLI::ParseError& error);

}  // namespace tutti::tools
