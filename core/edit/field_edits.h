#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/scenario_text.h"

namespace tutti::core {

/// The replacement of `removed` bytes at offset `at` of a text by `inserted`.
struct TextEdit {
  std::size_t at = 0;
  std::size_t removed = 0;
  std::string inserted;
};
/// The edits of one change, in ascending order of offsets, without overlaps.
using TextEdits = std::vector<TextEdit>;
std::string with_edits(std::string text, const TextEdits& edits);

// The following functions return the edits of a text that change one field. Comments, order and
// spacing of the rest of the text do not change.
// ERRORS of all functions: the text cannot be parsed; there is no such field or element.

/// Sets a field to the value `typed`. "{}" creates a message if it does not exist; an empty `typed`
/// removes the field (remove_field()). An index just after the last element appends an element.
/// Missing enclosing messages are created, and other fields of the same oneof are removed. If
/// `typed` is not a valid value of the field, it is put in quotes, so that only this field has an
/// error.
Expected<TextEdits> set_field(const ScenarioText& text, const FieldPath& path,
                              const std::string& typed);

/// Appends an element to a repeated field: `typed`, or an empty message. A message that is not
/// repeated is created if it does not exist. The index in the last step of the path is ignored.
Expected<TextEdits> add_field(const ScenarioText& text, const FieldPath& path,
                              const std::string& typed = "");

/// Removes a field or an element, and its line if nothing else is on the line. Comments inside the
/// value are removed. Comments next to the value stay. If the last remaining element is removed,
/// the whole repeated field is removed.
Expected<TextEdits> remove_field(const ScenarioText& text, const FieldPath& path);

/// Does the same as remove_field(), for a field that is written in `message`, even if the schema
/// has no such field.
TextEdits without_field(const ScenarioText& text, const Value& message, const Value::Field& field);

/// Returns the fields in the text that share a oneof with a field on `path`; set_field() removes
/// them.
std::vector<FieldPath> excluded_by(const ScenarioText& text, const FieldPath& path);

}  // namespace tutti::core
