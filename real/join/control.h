#pragma once

#include <chrono>
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

  /// Size limits of received messages: those to a worker contain a whole scenario with its files,
  /// those from one the spans of a step.
  static constexpr std::size_t kLongestIntroduction = 4096;
  static constexpr std::size_t kLongestToWorker = std::size_t{512} << 20;
  static constexpr std::size_t kLongestFromWorker = std::size_t{1} << 30;

  ControlChannel(Socket socket, std::size_t longest);

  /// ERRORS: the other side is gone, or accepts nothing for ten seconds.
  core::Expected<void> send(const proto::Control& message);
  /// Returns the next complete message; nothing if there is none by `until` (a time in the past:
  /// polls once without waiting).
  /// ERRORS: the other side is gone, or sends an invalid message.
  core::Expected<std::unique_ptr<proto::Control>> receive(Clock::time_point until);
  /// Sets the size limit of messages from now on.
  void take_messages_of(std::size_t longest) { reader_.allow(longest); }
  /// Closes the sending direction. Data in flight still arrives.
  void end_sending();

  [[nodiscard]] int file() const { return socket_.get(); }

 private:
  Socket socket_;
  FrameReader reader_;
  std::unique_ptr<std::mutex> sending_;
};

}  // namespace tutti::real
