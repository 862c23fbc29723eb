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

/// A value of plain types, as dumps of a few thousand entries hold them, from JSON or from a Python
/// pickle.
struct PlainValue {
  enum class Kind : std::uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kDict };
  Kind kind = Kind::kNone;
  std::int64_t integer = 0;  ///< also of kBool
  double real = 0;
  std::string text;
  std::vector<const PlainValue*> items;                           ///< of lists and tuples
  std::vector<std::pair<std::string, const PlainValue*>> fields;  ///< of dicts; keys as text

  /// The field of that name; null if this is no dict, or has none.
  [[nodiscard]] const PlainValue* field(std::string_view name) const {
    for (const auto& [key, value] : fields) {
      if (key == name) return value;
    }
    return nullptr;
  }
  /// The whole number of a field, also of one that is written as text; `otherwise` if there is
  /// none.
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise = -1) const;
  /// The text of a field; empty if there is none.
  [[nodiscard]] std::string_view words(std::string_view name) const;
};

/// Owns the values, which refer to each other.
struct PlainDocument {
  std::deque<PlainValue> values;
  const PlainValue* root = nullptr;
};

/// Reads a dump of at most 256 MiB, and 8 million values: JSON, or a pickle of protocol 0 to 5 with
/// plain types. Of a pickle nothing is executed: what it would import or call becomes its
/// arguments, or nothing. ERRORS: unreadable, neither of both, cut off, too large; with the byte.
Expected<PlainDocument> read_plain_document(ByteInput& input, const std::string& name);

}  // namespace tutti::core
