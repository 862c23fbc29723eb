#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <system_error>
#include <thread>
#include <vector>

#include "core/base/error.h"
#include "real/join/meeting.h"
#include "real/wire/frame.h"

namespace tutti::tools {

/// The time for which a loop over connections waits for data before it continues with its other
/// work.
constexpr auto kPollInterval = std::chrono::milliseconds(20);
constexpr auto kHeartbeatInterval = std::chrono::milliseconds(500);

/// One end of a connection between rank 0 and another rank.
class TextLine {
 public:
  explicit TextLine(real::Connection connection);

  [[nodiscard]] int file() const { return connection_.file(); }

  /// Sends a text. Returns false if the other side is gone. Messages are short, so the connection
  /// accepts them at once.
  bool send(std::string_view text);

  /// Sends a word if the connection accepts data at the moment; otherwise drops the word.
  void send_word(std::string_view word);

  /// Reads data that has arrived, without waiting, and at most kMaxPerRead bytes, since the other
  /// side may send faster than this side reads. Returns false if the other side has closed the
  /// connection.
  bool read_some();

  /// Returns the next text that has arrived, in the same way as real::FrameReader::next().
  auto next() { return reader_.next(); }

 private:
  real::Connection connection_;
  real::FrameWriter writer_;
  real::FrameReader reader_;
};

/// Returns the number that follows `word` in a message such as "point 12"; nullopt if the message
/// has another form.
std::optional<std::int64_t> number_behind(std::string_view text, std::string_view word);

/// Starts up to `count` threads and returns the number that the system allowed.
template <class Work>
int start_threads(std::vector<std::jthread>& threads, int count, const Work& work) {
  int started = 0;
  try {
    for (; started < count; ++started) threads.emplace_back(work);
  } catch (const std::system_error&) {  // ulimit -u
  }
  return started;
}

tl::unexpected<core::Error> no_threads();

}  // namespace tutti::tools
