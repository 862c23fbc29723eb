#pragma once

#include <optional>
#include <string>

#include "core/base/error.h"

namespace tutti::core {

/// The number that `text` spells as a whole, from `least` to `most`. Nothing, and a problem at `where` that names it
/// `what`, if it spells none or one out of bounds.
std::optional<double> read_number(const std::string& text, const Location& where, const std::string& what, double least,
                                  double most, Problems& problems);

}  // namespace tutti::core
