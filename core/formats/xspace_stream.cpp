#include "core/formats/xspace_stream.h"

#include <algorithm>

#include <fmt/format.h>

namespace tutti::core {
namespace {

constexpr std::uint64_t kLongestXspaceLeaf = std::uint64_t{256} << 20;
constexpr std::size_t kXspacePiece = std::size_t{256} << 10;

}  // namespace

std::optional<XspaceStream::Field> XspaceStream::next(std::uint64_t end) {
  if (error_ || at_ >= end || (end == kToTheEnd && at_end())) return std::nullopt;
  const auto key = varint();
  if (!key) return std::nullopt;
  Field field{static_cast<std::uint32_t>(*key >> 3), static_cast<std::uint8_t>(*key & 7), 0};
  if (field.number == 0 || *key >> 32 != 0) return fail("an invalid field");
  switch (field.type) {
    case 0:
    case 2: {
      const auto value = varint();
      if (!value) return std::nullopt;
      field.value = *value;
      break;
    }
    case 1:
    case 5: {
      const std::string_view bytes = take(field.type == 1 ? 8 : 4);
      for (std::size_t i = 0; i < bytes.size(); ++i)
        field.value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[i])) << (8 * i);
      break;
    }
    default: return fail(fmt::format("a field of type {}", field.type));
  }
  if (field.type == 2 && end != kToTheEnd && field.value > end - std::min(end, at_))
    return fail("a field that is longer than its message");
  if (error_) return std::nullopt;
  return field;
}

std::string_view XspaceStream::content(const Field& field) {
  if (field.type != 2) return {};
  if (field.value > kLongestXspaceLeaf)
    return fail(fmt::format("a field of {} bytes", field.value)), "";
  return take(static_cast<std::size_t>(field.value));
}

void XspaceStream::skip(const Field& field) {
  if (field.type != 2) return;
  std::uint64_t left = field.value;
  while (left > 0 && !error_) {
    const auto part = static_cast<std::size_t>(std::min<std::uint64_t>(left, kXspacePiece));
    if (take(part).size() < part) return;
    left -= part;
  }
}

std::nullopt_t XspaceStream::fail(const std::string& what) {
  if (!error_)
    error_ = Error::request({ProblemCode::kInvalid, "XSpace"},
                            fmt::format("{} (at byte {}); the file is not a profile of TensorFlow "
                                        "or JAX (*.xplane.pb), or is damaged",
                                        what, at_),
                            {name_, 0, 0});
  return std::nullopt;
}

bool XspaceStream::more() {
  if (error_) return false;
  buffer_.erase(0, used_);
  used_ = 0;
  const std::size_t had = buffer_.size();
  buffer_.resize(had + kXspacePiece);
  const auto got = input_.read(buffer_.data() + had, kXspacePiece);
  if (!got) {
    error_ = got.error();
    buffer_.resize(had);
    return false;
  }
  buffer_.resize(had + *got);
  return *got > 0;
}

std::string_view XspaceStream::take(std::size_t count) {
  while (buffer_.size() - used_ < count) {
    if (more()) continue;
    if (!error_) fail("the file ends within a message");
    return {};
  }
  const std::string_view bytes(buffer_.data() + used_, count);
  used_ += count;
  at_ += count;
  return bytes;
}

std::optional<std::uint64_t> XspaceStream::varint() {
  std::uint64_t value = 0;
  for (int i = 0; i < 10; ++i) {
    const std::string_view byte = take(1);
    if (byte.empty()) return std::nullopt;
    const auto bits = static_cast<unsigned char>(byte.front());
    value |= static_cast<std::uint64_t>(bits & 0x7F) << (7 * i);
    if (bits < 0x80) return value;
  }
  return fail("a damaged number");
}

}  // namespace tutti::core
