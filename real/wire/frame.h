#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/error.h"

namespace tutti::real {

/// A message behind its length (u32, little-endian).
std::string framed(std::string_view message);

/// Takes a stream of such messages apart. Keeps what has come of a message and no more: a length alone takes no memory.
class FrameReader {
 public:
  /// Messages are at most `longest` bytes.
  explicit FrameReader(std::size_t longest) : longest_(longest) {}

  void allow(std::size_t longest) { longest_ = longest; }
  void take(std::string_view bytes) { buffer_.append(bytes); }
  /// The next whole message, good until the next call of anything; nothing if it has not all come.
  /// ERRORS: one that is longer than allowed; there is no way on.
  core::Expected<std::optional<std::string_view>> next();
  /// Something of a message has come, not all.
  [[nodiscard]] bool in_the_middle() const { return buffer_.size() > done_; }

 private:
  std::size_t longest_;
  std::string buffer_;
  std::size_t done_ = 0;  ///< of the buffer: handed out
};

}  // namespace tutti::real
