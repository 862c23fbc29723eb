#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/edit/scenario_text.h"

namespace tutti::core {

/// A replacement of some bytes of a text.
struct TextEdit {
  std::size_t at = 0;
  std::size_t removed = 0;
  std::string inserted;
};
/// The edits of one change, from the front to the back of the text, without overlap.
using TextEdits = std::vector<TextEdit>;
std::string with_edits(std::string text, const TextEdits& edits);

// Computes the edits of a text that change a field. Only the place of the field changes: comments,
// order and spacing of everything else stay as they are.
// ERRORS, of all: the text is broken; there is no such field or element.

/// Sets a field: a single value becomes `typed`; a message is created if it does not exist (`typed`
/// is "{}"). Missing enclosing messages are written too, and a field that excludes it (another
/// field of its oneof) is removed. An empty `typed` is remove_field(). A text that cannot be a
/// value of the field is put in quotes, so that the error stays local. The element after the last
/// one is added.
Expected<TextEdits> set_field(const ScenarioText& text, const FieldPath& path,
                              const std::string& typed);

/// Adds an element at the end of a repeated field: `typed`, or a message without fields; or adds a
/// message that does not exist yet. The index of the last step is ignored.
Expected<TextEdits> add_field(const ScenarioText& text, const FieldPath& path,
                              const std::string& typed = "");

/// Removes the field or the element, and its line if nothing else is on it. Comments inside are
/// removed too, those next to it stay. If it was the last element of a repeated field, nothing of
/// the field remains.
Expected<TextEdits> remove_field(const ScenarioText& text, const FieldPath& path);

/// Like remove_field(), for a field that is written in `message`, even if the schema does not have
/// it.
TextEdits without_field(const ScenarioText& text, const Value& message, const Value::Field& field);

/// Returns the written fields that share a oneof with fields of `path`, and that set_field()
/// removes.
std::vector<FieldPath> excluded_by(const ScenarioText& text, const FieldPath& path);

}  // namespace tutti::core
