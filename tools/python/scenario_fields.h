#pragma once

#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/schema.h"

namespace tutti::python {

/// A field of a scenario: what the schema says of it, and what the text has.
struct FieldState {
  /// "message", "text", "whole", "number", "bool" or "choice".
  std::string kind;
  bool repeated = false;
  bool written = false;
  int count = 0;          ///< number of elements of a repeated field
  std::string value;      ///< value as typed, strings without quotes; empty: unset, or a message
  std::string help;       ///< the schema's comment
  std::string otherwise;  ///< the default, as the comment describes it
  std::string unit;
  std::vector<std::string> choices;
  std::vector<std::string> fields;  ///< for a message, the names of its fields
};

/// Describes a field of a scenario's text; the empty path is the scenario itself. Paths are written
/// "cluster.workers[1].count"; without an index, a repeated field is meant as a whole.
/// ERRORS: the path is malformed; the schema has no such field (with the nearest name).
core::Expected<FieldState> field_state(const std::string& text, const std::string& path);

/// Returns the text with a field changed; comments and everything else stay. An empty value removes
/// the field; for a message, "{}" creates it.
/// ERRORS: as field_state(); an index beyond the next element; the text is broken.
core::Expected<std::string> with_field(const std::string& text, const std::string& path,
                                       const std::string& value);

}  // namespace tutti::python
