#include "core/formats/line_stream.h"

#include <algorithm>
#include <cstring>

namespace tutti::core {

LineStream::LineStream(ByteInput& input, std::string name)
    : input_(input), name_(std::move(name)), buffer_(std::size_t{1} << 18, '\0') {}

bool LineStream::more() {
  at_ = end_ = 0;
  if (error_) return false;
  const auto got = input_.read(buffer_.data(), buffer_.size());
  if (!got) {
    error_ = got.error();
    return false;
  }
  end_ = *got;
  return end_ > 0;
}

std::optional<std::string_view> LineStream::next() {
  constexpr std::size_t kLongestLine = std::size_t{1} << 20;
  if (at_ == end_ && !more()) return std::nullopt;
  // Text editors of Windows begin a file with a byte order mark.
  if (++number_ == 1 && std::string_view(buffer_).substr(0, end_).starts_with("\xEF\xBB\xBF"))
    at_ = 3;
  const auto without_return = [](std::string_view line) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    return line;
  };
  long_line_.clear();
  while (true) {
    const char* const begin = buffer_.data() + at_;
    const void* const newline = std::memchr(begin, '\n', end_ - at_);
    if (newline != nullptr) {
      const std::size_t length = static_cast<const char*>(newline) - begin;
      at_ += length + 1;
      if (long_line_.empty()) return without_return({begin, length});
      long_line_.append(begin,
                        std::min(length, kLongestLine - std::min(kLongestLine, long_line_.size())));
      return without_return(long_line_);
    }
    long_line_.append(
        begin, std::min(end_ - at_, kLongestLine - std::min(kLongestLine, long_line_.size())));
    at_ = end_;
    if (!more()) {
      if (error_) return std::nullopt;
      return without_return(long_line_);
    }
  }
}

}  // namespace tutti::core
