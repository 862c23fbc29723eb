#pragma once

#include <string>
#include <vector>

#include <tl/expected.hpp>

#include "core/base/error.h"
#include "core/edit/schema.h"

namespace tutti::core {

/// The reason why a field cannot have the given values, and the remedy.
struct AxisProblem {
  ProblemCode code = ProblemCode::kInvalid;
  std::string text;
};

/// Returns the values of `field` that `written` ("1,2,8", "64KiB..1MiB*2", "2..16+2") stands for,
/// as typed into a scenario, at most `most`. ERRORS: more values; invalid values of the field, and
/// the remedy.
tl::expected<std::vector<std::string>, AxisProblem> axis_values(const FieldType& field,
                                                                const std::string& written,
                                                                std::int64_t most);

/// Returns a single value; a size becomes its number. ERRORS: as axis_values().
tl::expected<std::string, AxisProblem> axis_value(const FieldType& field,
                                                  const std::string& written);

}  // namespace tutti::core
