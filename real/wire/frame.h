#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::real {

/// Returns the message preceded by its length in bytes (u32, little-endian).
std::string framed(std::string_view message);

/// Splits a stream of bytes into the messages that framed() has written to it. Only received bytes
/// are buffered, so a message that claims a large length, but is short, allocates no memory.
class FrameReader {
 public:
  /// `longest`: the maximum length of a message in bytes.
  explicit FrameReader(std::size_t longest) : longest_(longest) {}

  void allow(std::size_t longest) { longest_ = longest; }
  void take(std::string_view bytes) { buffer_.append(bytes); }
  /// Returns the next message; nullopt if the message is incomplete. The result is valid until the
  /// next call of any member function. ERRORS: the message is longer than allowed. After this
  /// error, no further messages can be read from the stream.
  core::Expected<std::optional<std::string_view>> next();
  /// Returns true if a part of a message has arrived, but not the whole message.
  [[nodiscard]] bool in_the_middle() const { return buffer_.size() > done_; }

 private:
  std::size_t longest_;
  std::string buffer_;
  std::size_t done_ = 0;  ///< number of bytes at the front of `buffer_` that next() has returned
};

}  // namespace tutti::real
