#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "core/base/error.h"
#include "real/join/socket.h"
#include "real/wire/frame.h"

namespace tutti::proto {
class Control;
}

namespace tutti::real {

/// Exchanges messages between the coordinator and a worker (real/proto/run.proto) over an
/// authenticated connection. Any thread may send; one receives.
class ControlChannel {
 public:
  using Clock = std::chrono::steady_clock;
  /// Returns the current time in nanoseconds, for pings between machines.
  static std::int64_t now_ns() {
    return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count();
  }

  /// Size limits of received messages: the introduction of a worker; its assignment, which contains
  /// a whole scenario with its files; and all other messages, until the plan tells how long those
  /// of a worker may be (InboxLimit).
  static constexpr std::size_t kLongestIntroduction = 4096;
  static constexpr std::size_t kLongestAssignment = std::size_t{512} << 20;
  static constexpr std::size_t kLongestMessage = std::size_t{1} << 20;

  ControlChannel(Socket socket, std::size_t longest);

  /// ERRORS: the other side is gone, or accepts nothing for ten seconds.
  core::Expected<void> send(const proto::Control& message);
  /// Returns the next complete message; nothing if there is none by `until` (a time in the past:
  /// polls once without waiting). However much arrives, it returns soon after `until`: after one
  /// more MiB, so that nobody's messages keep the caller from its other work.
  /// ERRORS: the other side is gone, or sends an invalid message.
  core::Expected<std::unique_ptr<proto::Control>> receive(Clock::time_point until);
  /// Sets the size limit of messages from now on.
  void take_messages_of(std::size_t longest) { reader_.allow(longest); }
  /// Returns the number of bytes that have arrived. It grows during long messages, too.
  [[nodiscard]] std::uint64_t arrived() const { return arrived_; }
  /// Returns the size of the message that receive() returned last.
  [[nodiscard]] std::size_t last_size() const { return last_size_; }
  /// Closes the sending direction. Data in flight still arrives.
  void end_sending();

  [[nodiscard]] int file() const { return socket_.get(); }

 private:
  Socket socket_;
  FrameReader reader_;
  std::uint64_t arrived_ = 0;
  std::size_t last_size_ = 0;
  std::unique_ptr<std::mutex> sending_;
};

}  // namespace tutti::real
