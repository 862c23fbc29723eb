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
/// The edits that together make one change. Edits are in ascending order of offsets and do not
/// overlap.
using TextEdits = std::vector<TextEdit>;
std::string with_edits(std::string text, const TextEdits& edits);

// The following functions return the edits that change one field of a text. The rest of the text,
// with its comments, order and spacing, does not change.
// ERRORS of all functions: the text cannot be parsed; there is no such field or element.

/// Sets a field to the value `typed`. If `typed` is "{}", a message is created unless it exists; if
/// `typed` is empty, the field is removed (remove_field()). For a repeated field, if the index in
/// the last step of `path` is the number of elements, an element is appended. Missing enclosing
/// messages are created, and other fields of the same oneof are removed. If `typed` is not a valid
/// value of the field, it is written in quotes, so that only this field causes an error when the
/// text is parsed.
Expected<TextEdits> set_field(const ScenarioText& text, const FieldPath& path,
                              const std::string& typed);

/// Appends an element to a repeated field. The element is `typed` or, if the field is a message, an
/// empty message. A message that is not repeated is created if it does not exist. The index in the
/// last step of the path is ignored.
Expected<TextEdits> add_field(const ScenarioText& text, const FieldPath& path,
                              const std::string& typed = "");

/// Removes a field or an element of a repeated field. If there is nothing else on its line, the
/// whole line is removed. Comments inside the value are removed, but comments before and after the
/// value stay. If the last remaining element is removed, the whole repeated field is removed.
Expected<TextEdits> remove_field(const ScenarioText& text, const FieldPath& path);

/// Does the same as remove_field(), for a field of `message` in the text. The schema need not
/// define the field.
TextEdits without_field(const ScenarioText& text, const Value& message, const Value::Field& field);

/// Returns the fields that set_field() removes: the fields in the text that belong to the same
/// oneof as a field on `path`.
std::vector<FieldPath> excluded_by(const ScenarioText& text, const FieldPath& path);

}  // namespace tutti::core
