#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::real {

/// Returns the message with its length (u32, little-endian) in front.
std::string framed(std::string_view message);

/// Splits a stream of such messages. Buffers only bytes that have arrived: a large length alone
/// allocates nothing.
class FrameReader {
 public:
  /// Messages are at most `longest` bytes.
  explicit FrameReader(std::size_t longest) : longest_(longest) {}

  void allow(std::size_t longest) { longest_ = longest; }
  void take(std::string_view bytes) { buffer_.append(bytes); }
  /// Returns the next complete message, valid until the next call of any function; nothing if it is
  /// incomplete.
  /// ERRORS: the message is longer than allowed; the stream cannot be continued.
  core::Expected<std::optional<std::string_view>> next();
  /// True if a part of a message has arrived.
  [[nodiscard]] bool in_the_middle() const { return buffer_.size() > done_; }

 private:
  std::size_t longest_;
  std::string buffer_;
  std::size_t done_ = 0;  ///< number of bytes at the front of the buffer that were returned
};

}  // namespace tutti::real
