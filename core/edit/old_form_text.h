#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/edit/scenario_text.h"
#include "core/scenario/old_form.h"

namespace tutti::core {

/// A scenario's text converted to the current form.
struct ConvertedText {
  std::string text;
  std::vector<std::size_t> origins;  ///< by byte of `text`: offset of the byte in the original text
  std::vector<MovedValue> moved;
};

/// Moves fields of an older form (core/scenario/old_form.h) to their current places. Comments above
/// and next to a field move with the field; the rest of the text does not change. Returns nullopt
/// if the text is in the current form, or cannot be parsed.
std::optional<ConvertedText> convert_text(const std::string& text);

/// True if both texts have the same values in the same fields, regardless of the order of different
/// fields. This function is used to check the result of convert_text().
bool have_equal_values(const std::string& text, const std::string& other);

/// Returns the warning for a text of an older form: each old field with its location, the lines
/// that replace it, and the command that rewrites the file. Empty if the text is in the current
/// form.
std::string old_form_warning(const std::string& text, const std::string& path);

/// Returns the current path of a field of an older form: "strategy.mirrored.num_packs" becomes
/// "strategy.tensorflow.mirrored.num_packs". Returns other paths unchanged. In the older form,
/// TensorFlow and Tutti's own packing shared some fields. The current path of such shared fields
/// depends on the strategy in `text`. If `text` is empty, the shared fields are converted to fields
/// of Tutti's own packing.
FieldPath present_path(const FieldPath& path, const ScenarioText* text = nullptr);

}  // namespace tutti::core
