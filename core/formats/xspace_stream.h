#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "core/formats/byte_input.h"

namespace tutti::core {

/// A stream of nested messages of Protocol Buffers, which is read field by field. Only a piece of
/// the input, or one field's content, is in memory. Errors state the offset of the byte at which
/// they were found.
class XspaceStream {
 public:
  XspaceStream(ByteInput& input, const std::string& name) : input_(input), name_(name) {}

  struct Field {
    std::uint32_t number = 0;
    std::uint8_t type = 0;
    std::uint64_t value = 0;  ///< value, or length of the content
  };

  /// Returns the next field before offset `end`; nullopt at `end` or after an error.
  std::optional<Field> next(std::uint64_t end);
  /// Returns the content of a field, valid until the next call. ERRORS: the content has more than
  /// 256 MiB.
  std::string_view content(const Field& field);
  void skip(const Field& field);
  /// The offset after the content of a field that was just returned.
  [[nodiscard]] std::uint64_t end_of(const Field& field) const {
    return field.type == 2 ? at_ + field.value : at_;
  }

  [[nodiscard]] const std::optional<Error>& error() const { return error_; }
  /// Sets the error, unless there is one already.
  std::nullopt_t fail(const std::string& what);
  [[nodiscard]] double share() const { return input_.share(); }

  static constexpr std::uint64_t kToTheEnd = ~std::uint64_t{0};

 private:
  bool more();
  bool at_end() { return used_ == buffer_.size() && !more(); }
  std::string_view take(std::size_t count);
  std::optional<std::uint64_t> varint();

  ByteInput& input_;
  const std::string& name_;
  std::string buffer_;
  std::size_t used_ = 0;
  std::uint64_t at_ = 0;
  std::optional<Error> error_;
};

}  // namespace tutti::core
