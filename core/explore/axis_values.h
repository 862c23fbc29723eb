#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/edit/schema.h"

namespace tutti::core {

/// What `written`, of at most `most` values, stands for as values of `field`, as they are typed into a scenario: "1,2,8", "64KiB..1MiB*2", "2..16+2".
/// ERRORS (texts): more values; what the field cannot be, and what to write instead.
tl::expected<std::vector<std::string>, std::string> axis_values(const FieldType& field, const std::string& written,
                                                                std::int64_t most);

/// One of them: a size becomes its number. ERRORS (texts): likewise.
tl::expected<std::string, std::string> axis_value(const FieldType& field, const std::string& written);

}  // namespace tutti::core
