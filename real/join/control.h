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

/// Messages between the coordinator and a worker (real/proto/run.proto) over a connection that has shaken hands.
/// Any thread may send; one receives.
class ControlChannel {
 public:
  using Clock = std::chrono::steady_clock;
  /// What the clock shows, in nanoseconds: of pings, which other machines answer.
  static std::int64_t now_ns() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

  /// Of messages that come: a whole scenario with its files to a worker; spans of a step from one.
  static constexpr std::size_t kLongestIntroduction = 4096;
  static constexpr std::size_t kLongestToWorker = std::size_t{512} << 20;
  static constexpr std::size_t kLongestFromWorker = std::size_t{1} << 30;

  ControlChannel(Socket socket, std::size_t longest);

  /// ERRORS: the other side is gone, or takes nothing for ten seconds.
  core::Expected<void> send(const proto::Control& message);
  /// What has come as a whole; nothing if there is none by `until` (a time gone by: looks once, without waiting).
  /// ERRORS: the other side is gone, or sends what is no message.
  core::Expected<std::unique_ptr<proto::Control>> receive(Clock::time_point until);
  /// From now on.
  void take_messages_of(std::size_t longest) { reader_.allow(longest); }
  /// Nothing more will be sent. What is still on its way arrives.
  void end_sending();

  [[nodiscard]] int file() const { return socket_.get(); }

 private:
  Socket socket_;
  FrameReader reader_;
  std::unique_ptr<std::mutex> sending_;
};

}  // namespace tutti::real
