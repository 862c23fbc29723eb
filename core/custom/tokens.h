#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.h"
#include "core/text/document.h"

namespace tutti::core::custom {

/// A token of an algorithm's text.
struct Token {
  enum class Kind : std::uint8_t { kName, kNumber, kText, kSymbol, kEnd };
  Kind kind = Kind::kEnd;
  std::string text;         ///< as written; kText: without the quotes
  std::int64_t number = 0;  ///< kNumber: the value
  Position at;
};

/// Returns the tokens of a text; the last one is kEnd. Comments run from # to the end of the line.
/// Text that is not a token is reported as a problem and skipped.
std::vector<Token> tokens_of(std::string_view text, const std::string& file, Problems& problems);

}  // namespace tutti::core::custom
