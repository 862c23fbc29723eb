#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "real/wire/frame_mac.h"

namespace tutti::real {

/// Writes the control messages of one direction of a connection. On the wire, a message is its
/// length in bytes (u32, little-endian), its bytes, and the authentication code of both (FrameMac).
class FrameWriter {
 public:
  explicit FrameWriter(const Sha256& key) : mac_(key) {}
  /// Returns the bytes of the next message. Messages must be sent in the order in which this
  /// function returned them.
  std::string framed(std::string_view message);

 private:
  FrameMac mac_;
};

/// Splits a stream of bytes into the messages that a FrameWriter with the same key has written.
/// Only received bytes are buffered, so a message that merely claims a large length allocates no
/// memory.
class FrameReader {
 public:
  /// `longest`: the maximum length of a message in bytes.
  FrameReader(std::size_t longest, const Sha256& key) : longest_(longest), mac_(key) {}

  void allow(std::size_t longest) { longest_ = longest; }
  void take(std::string_view bytes) { buffer_.append(bytes); }
  /// Returns the next message; nothing if the message is incomplete. The result is valid until the
  /// next call of any function. ERRORS: the message is longer than allowed; its authentication code
  /// is wrong, so it is not the next message that the other end has sent. The stream then cannot be
  /// continued, and every later call returns the same error.
  core::Expected<std::optional<std::string_view>> next();
  /// Returns true if a part of a message has arrived, but not the whole message.
  [[nodiscard]] bool in_the_middle() const { return buffer_.size() > done_; }

 private:
  core::Expected<std::optional<std::string_view>> fail(const std::string& what);

  std::size_t longest_;
  FrameMac mac_;
  std::string buffer_;
  std::size_t done_ = 0;  ///< number of bytes at the front of `buffer_` that next() has returned
  std::optional<core::Error> failure_;
};

/// Returns the length on the wire, in bytes, of a message of `bytes` bytes.
std::size_t framed_size(std::size_t bytes);

}  // namespace tutti::real
