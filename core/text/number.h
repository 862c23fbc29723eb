#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"

namespace tutti::core {

/// The finite number that `text` spells as a whole; nothing if it spells none.
std::optional<double> number_of(const std::string& text);

/// Likewise, from `least` to `most`. Nothing, and a problem at `where` that names it
/// `what`, if it spells none or one out of bounds.
std::optional<double> read_number(const std::string& text, const Location& where, const std::string& what, double least,
                                  double most, Problems& problems);

}  // namespace tutti::core
