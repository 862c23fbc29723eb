#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/error.h"
#include "real/join/connection.h"
#include "real/wire/frame.h"

namespace tutti::proto {
class Control;
}

namespace tutti::real {

/// Exchanges messages (real/proto/run.proto) between the coordinator and a worker over an
/// authenticated connection. Every message has an authentication code (real/wire/frame.h). Any
/// thread may send; only one thread may receive.
class ControlChannel {
 public:
  using Clock = std::chrono::steady_clock;
  /// Returns the current time in nanoseconds, for pings between machines.
  static std::int64_t now_ns() {
    return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
  }

  /// Size limits of received messages, in bytes. The first limit applies to a worker's introduction
  /// (Hello), and the second to a worker's assignment, which has a whole scenario with its files.
  /// The third limit applies to all other messages until the plan is known; then InboxLimit
  /// applies.
  static constexpr std::size_t kLongestIntroduction = 4096;
  static constexpr std::size_t kLongestAssignment = std::size_t{512} << 20;
  static constexpr std::size_t kLongestMessage = std::size_t{1} << 20;

  ControlChannel(Connection connection, std::size_t longest);

  /// Sends a message. ERRORS: the other end is gone, or accepts no data for ten seconds.
  core::Expected<void> send(const proto::Control& message);
  /// Does the same as send(), for a message that is already serialized.
  core::Expected<void> send_bytes(std::string_view message);
  /// Returns the next complete message; nothing if none is complete by `until`. If `until` is in
  /// the past, polls once without waiting. Reads at most 1 MiB after `until`, so that a long
  /// message does not keep the caller from other work. ERRORS: the other end is gone, or sends an
  /// invalid message.
  core::Expected<std::unique_ptr<proto::Control>> receive(Clock::time_point until);
  /// Sets the size limit of later messages, in bytes.
  void take_messages_of(std::size_t longest) { reader_.allow(longest); }
  /// Returns the number of bytes that have arrived over the connection, including the bytes of
  /// incomplete messages.
  [[nodiscard]] std::uint64_t arrived() const { return arrived_; }
  /// Returns the size in bytes of the message that receive() returned last.
  [[nodiscard]] std::size_t last_size() const { return last_size_; }
  /// Closes the sending direction. The other end still receives the data that was sent before.
  void end_sending() { connection_.end_sending(); }

  [[nodiscard]] int file() const { return connection_.file(); }

 private:
  Connection connection_;
  FrameReader reader_;
  FrameWriter writer_;
  std::uint64_t arrived_ = 0;
  std::size_t last_size_ = 0;
  std::unique_ptr<std::mutex> sending_;
};

}  // namespace tutti::real
