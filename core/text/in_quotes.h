#pragma once

#include <string>
#include <string_view>

namespace tutti::core {

/// Returns the text in double quotes. Quotes, backslashes and control characters are escaped in a
/// form that is valid in both protobuf's text format and JSON.
std::string in_quotes(std::string_view text);

}  // namespace tutti::core
