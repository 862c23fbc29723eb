#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/base/error.h"
#include "core/edit/schema.h"

namespace tutti::core {

/// Why a field cannot have the values that are written for it, and what to write instead.
struct AxisProblem {
  ProblemCode code = ProblemCode::kInvalid;
  std::string text;
};

/// What `written`, of at most `most` values, stands for as values of `field`, as they are typed into a scenario: "1,2,8", "64KiB..1MiB*2", "2..16+2".
/// ERRORS: more values; what the field cannot be, and what to write instead.
tl::expected<std::vector<std::string>, AxisProblem> axis_values(const FieldType& field, const std::string& written,
                                                                std::int64_t most);

/// One of them: a size becomes its number. ERRORS: likewise.
tl::expected<std::string, AxisProblem> axis_value(const FieldType& field, const std::string& written);

}  // namespace tutti::core
