#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::core {

/// Reads the fields of a binary Protocol Buffers message without its schema.
///
///     for (WireFields fields(message); auto field = fields.next();)
///       if (field->number == 2) name = field->bytes;
class WireFields {
 public:
  struct Field {
    std::uint32_t number = 0;
    std::uint8_t type = 0;    ///< wire type: 0 for a varint, 1 for eight bytes, 2 for bytes with a
                              ///< length, 5 for four bytes
    std::uint64_t value = 0;  ///< value, for types 0, 1 and 5
    std::string_view bytes;   ///< content, for type 2

    /// Returns the value as a floating-point number, for fields that the schema declares as double
    /// or float.
    [[nodiscard]] double real() const;
  };

  /// REQUIRES: `message` outlives this object.
  explicit WireFields(std::string_view message) : rest_(message) {}

  /// Returns the next field; nullopt at the end, or if the message is damaged.
  std::optional<Field> next();
  [[nodiscard]] bool damaged() const { return damaged_; }

  /// Removes a varint from the beginning of `bytes` and returns its value. Returns nullopt if
  /// `bytes` does not begin with a varint.
  static std::optional<std::uint64_t> take_varint(std::string_view& bytes);

 private:
  std::string_view rest_;
  bool damaged_ = false;
};

/// Builds a binary Protocol Buffers message.
class WireMessage {
 public:
  WireMessage& number(std::uint32_t field, std::uint64_t value);
  WireMessage& text(std::uint32_t field, std::string_view bytes);
  [[nodiscard]] const std::string& bytes() const { return bytes_; }
  static void put_varint(std::string& to, std::uint64_t value);

 private:
  std::string bytes_;
};

}  // namespace tutti::core
