#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/base/error.h"
#include "core/edit/schema.h"

namespace tutti::core {

/// The reason why a field cannot have the given values; `text` includes the remedy.
struct AxisProblem {
  ProblemCode code = ProblemCode::kInvalid;
  std::string text;
};

/// Expands a list of values and ranges for `field` ("1,2,8", "64KiB..1MiB*2", "2..16+2"). Returns
/// the values in the form in which a scenario has them. ERRORS: there are more than `most` values;
/// a value is invalid for the field.
tl::expected<std::vector<std::string>, AxisProblem> axis_values(const FieldType& field,
                                                                const std::string& written,
                                                                std::int64_t most);

/// Returns a single value in the form in which a scenario has it. A size with a unit becomes a
/// number of bytes. ERRORS: as for axis_values().
tl::expected<std::string, AxisProblem> axis_value(const FieldType& field,
                                                  const std::string& written);

}  // namespace tutti::core
