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
  std::string text;         ///< the token as written; for a kText token, without the quotes
  std::int64_t number = 0;  ///< only for kNumber: the value
  Position at;
};

/// Returns the tokens of a text. The last token is kEnd. A comment begins with # and ends at the
/// end of the line. Text that is not a token is reported as a problem and skipped.
std::vector<Token> tokens_of(std::string_view text, const std::string& file, Problems& problems);

}  // namespace tutti::core::custom
