#include "real/wire/frame.h"

#include <span>

namespace tutti::real {

namespace {

constexpr std::size_t kLengthBytes = 4;

std::span<const std::byte> bytes_of(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

std::size_t framed_size(std::size_t bytes) { return kLengthBytes + bytes + kMacBytes; }

std::string FrameWriter::framed(std::string_view message) {
  std::string bytes;
  bytes.reserve(framed_size(message.size()));
  for (int shift = 0; shift < 32; shift += 8)
    bytes += static_cast<char>(message.size() >> shift & 0xff);
  bytes.append(message);
  const MacTag tag = mac_.next(bytes_of(bytes), {});
  return bytes.append(reinterpret_cast<const char*>(tag.data()), tag.size());
}

core::Expected<std::optional<std::string_view>> FrameReader::fail(const std::string& what) {
  failure_ = core::Error::run({core::ProblemCode::kProtocol}, what);
  return tl::make_unexpected(*failure_);
}

core::Expected<std::optional<std::string_view>> FrameReader::next() {
  if (failure_) return tl::make_unexpected(*failure_);
  // Erase returned bytes once they are more than half of the buffer, so that each byte is moved
  // about once.
  if (done_ > buffer_.size() / 2) {
    buffer_.erase(0, done_);
    done_ = 0;
  }
  const std::string_view rest = std::string_view(buffer_).substr(done_);
  if (rest.size() < kLengthBytes) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(rest[i])) << (8 * i);
  if (length > longest_)
    return fail(fmt::format("sent a message of {} bytes, but the limit is {}", length, longest_));
  if (rest.size() < framed_size(length)) return std::nullopt;
  const std::string_view frame = rest.substr(0, kLengthBytes + length);
  if (!mac_.verify(bytes_of(frame), {},
                   bytes_of(rest.substr(frame.size(), kMacBytes)).first<kMacBytes>()))
    return fail(
        "sent a message whose authentication code is wrong: the message was changed, repeated, "
        "dropped or reordered on the network");
  done_ += framed_size(length);
  return frame.substr(kLengthBytes);
}

}  // namespace tutti::real
