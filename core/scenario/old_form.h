#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/document.h"

namespace tutti::core {

// The older form of scenarios, which precedes `strategy { tensorflow { … } }`. In this form,
// TensorFlow's messages are in the strategy itself, next to fields that they share with Tutti's own
// packing. Texts of the older form are read for one release, and `tutti convert` rewrites
// them (docs/scenarios.md, docs/decisions/0054).

/// A field of the strategy whose path differs between the older form and the current form.
struct MovedField {
  std::string_view was;  ///< old path, for example "mirrored"
  std::string_view now;  ///< new path, for example "tensorflow.mirrored"; empty: the field is
                         ///< removed if its value is 0, because 0 has no effect
  /// The path of another field that must be present for the move. The presence of the other field
  /// is checked after all rows above this row have been applied. Empty: the field always moves.
  std::string_view beside;
};

/// Returns all rows. If several rows apply to a field, the first of these rows is used.
std::span<const MovedField> moved_fields();

/// The next move in the conversion of a document: a field and its new place.
struct NextMove {
  std::size_t strategy = 0;  ///< index among the document's fields
  std::size_t field = 0;     ///< index among the strategy's fields
  const MovedField* row = nullptr;
  bool dropped = false;  ///< true: the field is dropped
};
/// Returns the next move; nullopt if the document is in the current form.
std::optional<NextMove> next_move(const Value& document);

/// A field that was moved, with its original location.
struct MovedValue {
  std::string was;  ///< old path: "strategy.mirrored"
  std::string now;  ///< new path: "strategy.tensorflow.mirrored"; empty: the field was dropped
  Position at;
};
/// Converts a document to the current form, and returns the fields that were moved. Every value
/// keeps its location, so that errors point to the user's text. The location of an added message is
/// the location of its first field. Cost for a document in the current form: one pass over the
/// fields of the strategy.
std::vector<MovedValue> bring_up_to_date(Value& document);

/// Divides a path at its dots: "tensorflow.mirrored" has two parts.
std::vector<std::string> parts_of(std::string_view path);
/// Returns the message at `path` inside `message`; null if there is none.
const Value* message_at(const Value& message, std::string_view path);
/// True if `written` is `name`, or its JSON spelling.
bool is_field_name(std::string_view written, std::string_view name);

/// Parses a document with parse_document() and converts it to the current form.
Document parse_scenario(std::string_view text, const std::string& file, Problems& problems);

}  // namespace tutti::core
