#include "core/formats/wire.h"

#include <bit>

namespace tutti::core {

double WireFields::Field::real() const {
  return type == 5 ? double{std::bit_cast<float>(static_cast<std::uint32_t>(value))}
                   : std::bit_cast<double>(value);
}

std::optional<std::uint64_t> WireFields::take_varint(std::string_view& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    value |= static_cast<std::uint64_t>(byte & 0x7F) << (7 * i);
    if (byte < 0x80) {
      bytes.remove_prefix(i + 1);
      return value;
    }
  }
  return std::nullopt;
}

std::optional<WireFields::Field> WireFields::next() {
  if (rest_.empty() || damaged_) return std::nullopt;
  damaged_ = true;
  const auto key = take_varint(rest_);
  if (!key || *key >> 3 == 0 || *key >> 32 != 0) return std::nullopt;
  Field field;
  field.number = static_cast<std::uint32_t>(*key >> 3);
  field.type = static_cast<std::uint8_t>(*key & 7);
  const auto fixed = [&](std::size_t count) {
    if (rest_.size() < count) return false;
    for (std::size_t i = 0; i < count; ++i)
      field.value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
    rest_.remove_prefix(count);
    return true;
  };
  switch (field.type) {
    case 0: {
      const auto value = take_varint(rest_);
      if (!value) return std::nullopt;
      field.value = *value;
      break;
    }
    case 1:
      if (!fixed(8)) return std::nullopt;
      break;
    case 2: {
      const auto size = take_varint(rest_);
      if (!size || *size > rest_.size()) return std::nullopt;
      field.bytes = rest_.substr(0, static_cast<std::size_t>(*size));
      rest_.remove_prefix(*size);
      break;
    }
    case 5:
      if (!fixed(4)) return std::nullopt;
      break;
    default: return std::nullopt;
  }
  damaged_ = false;
  return field;
}

void WireMessage::put_varint(std::string& to, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) to += static_cast<char>((value & 0x7F) | 0x80);
  to += static_cast<char>(value);
}

WireMessage& WireMessage::number(std::uint32_t field, std::uint64_t value) {
  put_varint(bytes_, std::uint64_t{field} << 3);
  put_varint(bytes_, value);
  return *this;
}

WireMessage& WireMessage::text(std::uint32_t field, std::string_view bytes) {
  put_varint(bytes_, std::uint64_t{field} << 3 | 2);
  put_varint(bytes_, bytes.size());
  bytes_ += bytes;
  return *this;
}

}  // namespace tutti::core
