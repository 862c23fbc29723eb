#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/schema.h"

namespace tutti::python {

/// A field of a scenario, with its description in the schema and its value in the text.
struct FieldState {
  /// The type: "message", "text", "whole", "number", "bool" or "choice".
  std::string kind;
  bool repeated = false;
  bool written = false;
  int count = 0;  ///< number of elements of a repeated field
  /// The value as written in the text, without the quotes of strings. Empty: the field is unset, or
  /// is a message.
  std::string value;
  /// The value in the field's unit, if it is written with a unit: 26214400 for bytes written as
  /// 25MiB.
  std::optional<double> converted;
  std::string help;       ///< the schema's comment
  std::string otherwise;  ///< the default value, as described in the schema's comment
  std::string unit;
  std::vector<std::string> choices;
  std::vector<std::string> fields;  ///< for a message, the names of its fields
};

/// Returns the field of a scenario's text at `path`, such as "cluster.workers[1].count". A path
/// without an index refers to a whole repeated field. The empty path refers to the scenario itself.
/// ERRORS: the path is malformed; the schema has no such field (the error suggests the nearest
/// name).
core::Expected<FieldState> field_state(const std::string& text, const std::string& path);

/// Returns the text with one field changed. Comments and all other parts of the text remain
/// unchanged. An empty value removes the field; the value "{}" creates a message. ERRORS: an error
/// of field_state(); an index is larger than the number of elements; the text has syntax errors.
core::Expected<std::string> with_field(const std::string& text, const std::string& path,
                                       const std::string& value);

}  // namespace tutti::python
