#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/base/error.h"
#include "core/edit/schema.h"

namespace tutti::core {

/// The reason why a field cannot have the given values. `text` also says what the user can do.
struct AxisProblem {
  ProblemCode code = ProblemCode::kInvalid;
  std::string text;
};

/// Expands a list of values and ranges for `field` ("1,2,8", "64KiB..1MiB*2", "2..16+2"). Returns
/// the values as they are written in a scenario. ERRORS: there are more than `most` values; a value
/// is invalid for the field.
tl::expected<std::vector<std::string>, AxisProblem> axis_values(const FieldType& field,
                                                                const std::string& written,
                                                                std::int64_t most);

/// Returns a single value as it is written in a scenario. A size with a unit is converted to a
/// number of bytes. ERRORS: as for axis_values().
tl::expected<std::string, AxisProblem> axis_value(const FieldType& field,
                                                  const std::string& written);

}  // namespace tutti::core
