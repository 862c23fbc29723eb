#include "tools/tutti/explore/sweep_line.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <charconv>
#include <string>
#include <utility>

#include "real/process/system_limits.h"

namespace tutti::tools {
namespace {

/// The maximum length of a message in bytes. The longest message is an outcome with a long error
/// text.
constexpr std::size_t kLongest = std::size_t{1} << 20;
/// The maximum number of bytes that are read from one connection before its messages are processed.
constexpr std::size_t kMaxPerRead = std::size_t{1} << 20;

}  // namespace

TextLine::TextLine(real::Connection connection)
    : connection_(std::move(connection)),
      writer_(connection_.keys().send),
      reader_(kLongest, connection_.keys().receive) {}

bool TextLine::send(std::string_view text) {
  const std::string message = writer_.framed(text);
  std::size_t sent = 0;
  while (sent < message.size()) {
    const ssize_t n = connection_.send(message.data() + sent, message.size() - sent);
    if (n > 0) {
      sent += n;
    } else if (errno == EAGAIN || errno == EINTR) {
      pollfd entry{file(), POLLOUT, 0};
      if (::poll(&entry, 1, 10'000) == 0) return false;
    } else {
      return false;
    }
  }
  return true;
}

void TextLine::send_word(std::string_view word) {
  pollfd entry{file(), POLLOUT, 0};
  if (::poll(&entry, 1, 0) == 1 && (entry.revents & POLLOUT) != 0) send(word);
}

bool TextLine::read_some() {
  char buffer[16384];
  for (std::size_t taken = 0; taken < kMaxPerRead;) {
    const ssize_t n = connection_.receive(buffer, sizeof buffer);
    if (n <= 0) return n < 0 && (errno == EAGAIN || errno == EINTR);
    reader_.take({buffer, static_cast<std::size_t>(n)});
    taken += n;
  }
  return true;
}

std::optional<std::int64_t> number_behind(std::string_view text, std::string_view word) {
  if (!text.starts_with(word)) return std::nullopt;
  text.remove_prefix(word.size());
  std::int64_t number = 0;
  const auto [stop, status] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (status != std::errc() || (stop != text.data() + text.size() && *stop != '\n' && *stop != ' '))
    return std::nullopt;
  return number;
}

tl::unexpected<core::Error> no_threads() {
  return tl::make_unexpected(
      core::Error::run({core::ProblemCode::kSystem},
                       "this process cannot start a thread" + real::remedy_for(EAGAIN)));
}

}  // namespace tutti::tools
