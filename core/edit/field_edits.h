#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/scenario_text.h"

namespace tutti::core {

/// Bytes of a text that go, and what comes in their place.
struct TextEdit {
  std::size_t at = 0;
  std::size_t removed = 0;
  std::string inserted;
};
/// Of one change, from the front to the back of the text, without overlap.
using TextEdits = std::vector<TextEdit>;
std::string with_edits(std::string text, const TextEdits& edits);

// What to change in a text so that a field becomes another one. Only the place of the field changes: remarks, order and
// spacing of all else stay as they are.
// ERRORS, of all: the text is broken; there is no such field or element.

/// The field, a single value, becomes `typed`, or a message is there (`typed` is "{}": with what it has, if it is there already); messages around it that are not there yet are written too, and what
/// excludes it (another field of its oneof) goes. Empty: as remove_field(). What cannot be a value of the field is put in
/// quotes, so that it is wrong at its place and nowhere else. An element that is one behind the last is added.
Expected<TextEdits> set_field(const ScenarioText& text, const FieldPath& path, const std::string& typed);

/// One more element at the end of a repeated field: `typed`, or a message without fields; or a message that is not there
/// yet. The last step's index does not matter.
Expected<TextEdits> add_field(const ScenarioText& text, const FieldPath& path, const std::string& typed = "");

/// The field, or the element, goes, and its line if nothing else is on it. Remarks inside of it go too, those beside it
/// stay. Of a repeated field whose last element goes nothing stays.
Expected<TextEdits> remove_field(const ScenarioText& text, const FieldPath& path);

/// The same for a field that is written in `message`, whether the schema has it or not.
TextEdits without_field(const ScenarioText& text, const Value& message, const Value::Field& field);

/// The fields of the oneofs of `path` that are written in place of it, and that set_field() takes out.
std::vector<FieldPath> excluded_by(const ScenarioText& text, const FieldPath& path);

}  // namespace tutti::core
