#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "core/edit/scenario_text.h"
#include "core/scenario/old_form.h"

namespace tutti::core {

/// A scenario's text in today's form.
struct ConvertedText {
  std::string text;
  std::vector<std::size_t> origins;  ///< of each of its bytes: the offset in the text that it came from
  std::vector<MovedValue> moved;
};

/// Rewrites a text that has fields of an older form (core/scenario/old_form.h). Remarks, order and spacing of all else stay as they are;
/// remarks above and beside a field move with it. Nothing if the text is in today's form, or cannot be read.
std::optional<ConvertedText> convert_text(const std::string& text);

/// True if both texts say the same: each value in its field, whatever the order of different fields. For a check of what
/// convert_text() made.
bool say_the_same(const std::string& text, const std::string& other);

/// What to tell the author of a text of an older form: each field with its place, the lines to write, and the command that writes
/// them; "" if the text is in today's form.
std::string old_form_warning(const std::string& text, const std::string& path);

/// Where a field of an older form is now: "strategy.mirrored.num_packs" → "strategy.tensorflow.mirrored.num_packs"; all other fields are
/// where they are. Fields that TensorFlow shared with Tutti's own packing depend on the strategy that `text` says; of no text, they
/// are Tutti's.
FieldPath present_path(const FieldPath& path, const ScenarioText* text = nullptr);

}  // namespace tutti::core
