#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "core/base/error.h"

namespace tutti::proto {
class Control;
}

namespace tutti::real {

/// Messages between the coordinator and a worker (real/proto/run.proto) over a connected stream socket.
class ControlChannel {
 public:
  using Clock = std::chrono::steady_clock;

  /// Takes over the file descriptor.
  explicit ControlChannel(int socket);
  ControlChannel(ControlChannel&& other) noexcept;
  ControlChannel& operator=(ControlChannel&& other) noexcept;
  ~ControlChannel();

  /// ERRORS: the other side is gone, or takes nothing for ten seconds.
  core::Expected<void> send(const proto::Control& message);
  /// What has come as a whole; nothing if there is none by `until` (a time gone by: looks once, without waiting).
  /// ERRORS: the other side is gone, or sends what is no message.
  core::Expected<std::unique_ptr<proto::Control>> receive(Clock::time_point until);

  [[nodiscard]] int socket() const { return socket_; }

 private:
  int socket_ = -1;
  std::string buffer_;
};

/// Listens on loopback, on a port that the system chooses.
class Listener {
 public:
  static core::Expected<Listener> open();
  Listener(Listener&& other) noexcept;
  ~Listener();

  [[nodiscard]] int port() const { return port_; }
  [[nodiscard]] int socket() const { return socket_; }
  /// A new connection; nothing by `until`.
  [[nodiscard]] std::optional<int> accept(ControlChannel::Clock::time_point until);

 private:
  Listener(int socket, int port) : socket_(socket), port_(port) {}
  int socket_ = -1;
  int port_ = 0;
};

/// Connects to a port of this machine. ERRORS: nobody listens there.
core::Expected<int> connect_to(const std::string& host, int port);

/// Reads exactly `bytes` bytes by `until`. False if they did not come.
bool read_exactly(int socket, void* data, std::size_t bytes, ControlChannel::Clock::time_point until);
bool write_exactly(int socket, const void* data, std::size_t bytes, ControlChannel::Clock::time_point until);

}  // namespace tutti::real
