#include "real/wire/frame.h"

namespace tutti::real {

namespace {
constexpr std::size_t kLengthBytes = 4;
}

std::string framed(std::string_view message) {
  std::string bytes;
  bytes.reserve(kLengthBytes + message.size());
  for (int shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(message.size() >> shift & 0xff);
  return bytes.append(message);
}

core::Expected<std::optional<std::string_view>> FrameReader::next() {
  // Erase the bytes of returned messages only when they fill more than half of the buffer, so that
  // each byte is moved about once.
  if (done_ > buffer_.size() / 2) {
    buffer_.erase(0, done_);
    done_ = 0;
  }
  const std::string_view rest = std::string_view(buffer_).substr(done_);
  if (rest.size() < kLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
  if (length > longest_) {
    return tl::make_unexpected(core::Error::run(
        {core::ProblemCode::kProtocol},
        fmt::format("sent a message of {} bytes, but the limit is {}", length, longest_)));
  }
  if (rest.size() - kLengthBytes < length) return std::nullopt;
  done_ += kLengthBytes + length;
  return rest.substr(kLengthBytes, length);
}

}  // namespace tutti::real
