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

/// A value of a plain type from JSON or a Python pickle. Whole documents are in memory, which is
/// suitable for dumps of some thousand entries.
struct PlainValue {
  enum class Kind : std::uint8_t { kNone, kBool, kInteger, kReal, kText, kList, kDict };
  Kind kind = Kind::kNone;
  std::int64_t integer = 0;  ///< value of kInteger and kBool
  double real = 0;
  std::string text;
  std::vector<const PlainValue*> items;  ///< items of lists and tuples
  std::vector<std::pair<std::string, const PlainValue*>>
      fields;  ///< for kDict: the entries, whose keys are converted to text

  /// Returns the field with this name; null if this value is not a dict or does not have the field.
  [[nodiscard]] const PlainValue* field(std::string_view name) const {
    for (const auto& [key, value] : fields) {
      if (key == name) return value;
    }
    return nullptr;
  }
  /// Returns the integer in a field. The integer may be written as a string. Returns `otherwise` if
  /// the field has no integer.
  [[nodiscard]] std::int64_t number(std::string_view name, std::int64_t otherwise = -1) const;
  /// Returns the text in a field; empty if the field has no text.
  [[nodiscard]] std::string_view words(std::string_view name) const;
};

/// A parsed document. A document owns all its values, which refer to each other by pointers.
struct PlainDocument {
  std::deque<PlainValue> values;
  const PlainValue* root = nullptr;
};

/// Reads JSON, or a pickle of protocol 0 to 5 with plain types, of at most 256 MiB and 8 million
/// values. No call in a pickle is executed. An object that unpickling would create by a call is not
/// created. Its value is the call's argument if there is exactly one argument, and otherwise kNone.
/// ERRORS (with the offset): the input cannot be read; it is neither JSON nor a pickle; it is
/// truncated or too large.
Expected<PlainDocument> read_plain_document(ByteInput& input, const std::string& name);

}  // namespace tutti::core
