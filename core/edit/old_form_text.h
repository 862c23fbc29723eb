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
  std::vector<std::size_t> origins;  ///< offset of each byte in the original text
  std::vector<MovedValue> moved;
};

/// Rewrites a text with fields of an older form (core/scenario/old_form.h). Comments, order and
/// spacing of everything else stay as they are; comments above and next to a field move with it.
/// nullopt if the text is in the current form, or cannot be read.
std::optional<ConvertedText> convert_text(const std::string& text);

/// True if both texts have the same values in the same fields; the order of different fields does
/// not matter. Used to check the result of convert_text().
bool say_the_same(const std::string& text, const std::string& other);

/// Returns the warning for a text of an older form: each field with its location, the lines to
/// write, and the command that writes them; "" if the text is in the current form.
std::string old_form_warning(const std::string& text, const std::string& path);

/// Returns the current path of a field of an older form: "strategy.mirrored.num_packs" →
/// "strategy.tensorflow.mirrored.num_packs"; all other fields stay where they are. Fields that
/// TensorFlow shared with Tutti's own packing depend on the strategy in `text`; without a text,
/// they are Tutti's.
FieldPath present_path(const FieldPath& path, const ScenarioText* text = nullptr);

}  // namespace tutti::core
