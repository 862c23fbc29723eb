#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/formats/byte_input.h"

namespace tutti::core {

/// A value of a plain type, from JSON or from a Python pickle, for dumps of a few thousand entries.
struct PlainValue {
  enum class Kind : std::uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kDict };
  Kind kind = Kind::kNone;
  std::int64_t integer = 0;  ///< value of kInteger and kBool
  double real = 0;
  std::string text;
  std::vector<const PlainValue*> items;  ///< items of lists and tuples
  std::vector<std::pair<std::string, const PlainValue*>>
      fields;  ///< entries of dicts, with keys as text

  /// Returns the field of that name; null if this is not a dict, or has no such field.
  [[nodiscard]] const PlainValue* field(std::string_view name) const {
    for (const auto& [key, value] : fields) {
      if (key == name) return value;
    }
    return nullptr;
  }
  /// Returns the whole number in a field, which may be a string; `otherwise` if there is none.
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise = -1) const;
  /// Returns the text of a field; empty if there is none.
  [[nodiscard]] std::string_view words(std::string_view name) const;
};

/// The owner of all values of a document, which refer to each other.
struct PlainDocument {
  std::deque<PlainValue> values;
  const PlainValue* root = nullptr;
};

/// Reads a dump of at most 256 MiB and 8 million values: JSON, or a pickle of protocol 0 to 5 with
/// plain types. Nothing in a pickle is executed: objects that it would import or call become their
/// arguments, or nothing. ERRORS, with their byte: unreadable, neither JSON nor a pickle,
/// truncated, too large.
Expected<PlainDocument> read_plain_document(ByteInput& input, const std::string& name);

}  // namespace tutti::core
