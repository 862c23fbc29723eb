#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/text/document.h"

namespace tutti::core {

// Conversion of the older form of scenarios, before `strategy { tensorflow { … } }` existed. In the
// older form, TensorFlow's messages are fields of the strategy, and some of their settings are
// fields that Tutti's own packing also uses. Tutti reads the older form for one more release, and
// `tutti convert` rewrites such files (docs/scenarios.md, docs/decisions/0054).

/// A field of the strategy that has another path in the current form than in the older form.
struct MovedField {
  std::string_view was;  ///< path in the older form, such as "mirrored"
  std::string_view now;  ///< path in the current form, such as "tensorflow.mirrored"; empty: the
                         ///< value 0 has no effect, so the field is removed if it is 0
  /// The path of another field. The move only happens if this other field is present. Presence is
  /// checked after all rows above this one have been applied. Empty: the field moves in any case.
  std::string_view beside;
};

/// Returns the table of all moved fields. If several of its rows match a field, only the first of
/// them is applied.
std::span<const MovedField> moved_fields();

/// The next step in the conversion of a document: a field, and its path in the current form.
struct NextMove {
  std::size_t strategy = 0;  ///< index of the field `strategy` in the document
  std::size_t field = 0;     ///< index of the field to move in the strategy
  const MovedField* row = nullptr;
  bool dropped = false;  ///< true: the field is removed
};
/// Returns the next field to move; nullopt if the document already has the current form.
std::optional<NextMove> next_move(const Value& document);

/// A field that was moved, with its location in the user's text.
struct MovedValue {
  std::string was;  ///< old path: "strategy.mirrored"
  std::string now;  ///< path in the current form, such as "strategy.tensorflow.mirrored"; empty:
                    ///< the field was removed
  Position at;
};
/// Converts a document to the current form. Returns the fields that were moved. Values keep their
/// locations, so errors point to the user's text. An added message has the location of its first
/// field. If the document already has the current form, the cost is one pass over the fields of the
/// strategy.
std::vector<MovedValue> bring_up_to_date(Value& document);

/// Divides a path at its dots: "tensorflow.mirrored" consists of "tensorflow" and "mirrored".
std::vector<std::string> parts_of(std::string_view path);
/// Returns the message at `path` in `message`; null if it does not exist.
const Value* message_at(const Value& message, std::string_view path);
/// True if `written` is `name` or the JSON form of `name`.
bool is_field_name(std::string_view written, std::string_view name);

/// Parses a document with parse_document(), and then converts it to the current form.
Document parse_scenario(std::string_view text, const std::string& file, Problems& problems);

}  // namespace tutti::core
