#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/document.h"

namespace tutti::core {

// The form that scenarios had before there was `strategy { tensorflow { … } }`: TensorFlow's
// messages stood in the strategy itself, beside fields that they shared with Tutti's own packing.
// Texts of that form are read for one release, and `tutti convert` rewrites them
// (docs/scenarios.md, docs/decisions/0054).

/// A field of the strategy that has moved.
struct MovedField {
  std::string_view was;  ///< old path, for example "mirrored"
  std::string_view now;  ///< new path, for example "tensorflow.mirrored"; "": a value of 0 without
                         ///< effect is left out
  /// The field moves only if the strategy has this one after the moves of all rows above; "":
  /// always.
  std::string_view beside;
};

/// All of them. Among several rows for one field, the first that applies is used.
std::span<const MovedField> moved_fields();

/// Returns a field that has to move next, and its destination.
struct NextMove {
  std::size_t strategy = 0;  ///< index among the document's fields
  std::size_t field = 0;     ///< index among the strategy's fields
  const MovedField* row = nullptr;
  bool dropped = false;  ///< true if the field has no effect and is left out
};
/// Returns nullopt if the document has the current form.
std::optional<NextMove> next_move(const Value& document);

/// A field that was moved, with its original location.
struct MovedValue {
  std::string was;  ///< for example "strategy.mirrored"
  std::string now;  ///< for example "strategy.tensorflow.mirrored"; "": left out
  Position at;
};
/// Converts a document to the current form. Every value keeps its location, so that errors point at
/// the user's text; an added message has the location of its first field. Cost: one look at the
/// fields of the strategy.
std::vector<MovedValue> bring_up_to_date(Value& document);

/// Returns the parts of a path: "tensorflow.mirrored" has two.
std::vector<std::string> parts_of(std::string_view path);
/// Returns the message at `path` below `message`; null if there is none.
const Value* message_at(const Value& message, std::string_view path);
/// True if `written` is `name`, or its JSON spelling.
bool is_field_name(std::string_view written, std::string_view name);

/// Parses a document with parse_document() and converts it to the current form.
Document parse_scenario(std::string_view text, const std::string& file, Problems& problems);

}  // namespace tutti::core
