#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/edit/scenario_text.h"
#include "core/scenario/old_form.h"

namespace tutti::core {

/// The text of a scenario after its conversion to the current form.
struct ConvertedText {
  std::string text;
  std::vector<std::size_t> origins;  ///< for each byte of `text`, its offset in the original text
  std::vector<MovedValue> moved;
};

/// Converts a scenario in an older form (core/scenario/old_form.h) to the current form, by moving
/// fields to other messages. Comments above and next to a field move with the field; the rest of
/// the text does not change. Returns nullopt if the text is in the current form, or cannot be
/// parsed.
std::optional<ConvertedText> convert_text(const std::string& text);

/// True if both texts have the same values in the same fields, regardless of the order of different
/// fields. This function is used to check the result of convert_text().
bool have_equal_values(const std::string& text, const std::string& other);

/// Returns a warning if the text is in an older form; otherwise an empty text. The warning lists
/// the old fields with their locations, the lines that replace them, and the command that rewrites
/// the file.
std::string old_form_warning(const std::string& text, const std::string& path);

/// Converts the path of a field from an older form to the current form:
/// "strategy.mirrored.num_packs" becomes "strategy.tensorflow.mirrored.num_packs". Returns all
/// other paths unchanged. In the older form, TensorFlow and Tutti's own packing shared some fields.
/// The current path of such a field depends on the strategy in `text`. If `text` is null, the field
/// is assumed to belong to Tutti's own packing.
FieldPath present_path(const FieldPath& path, const ScenarioText* text = nullptr);

}  // namespace tutti::core
