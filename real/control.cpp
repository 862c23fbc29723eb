#include "real/control.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "real/proto/run.pb.h"

namespace tutti::real {

using core::Error;
using Clock = ControlChannel::Clock;

namespace {

/// A whole timeline's spans of one step, at the most.
constexpr std::uint32_t kLongestMessage = 1u << 30;

core::Error run_error(const std::string& text) { return Error::run(text); }

/// Waits for `events` on the socket. False if `until` comes first.
bool wait_for(int socket, short events, Clock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd entry{socket, events, 0};
    const int ready = ::poll(&entry, 1, static_cast<int>(std::clamp<long>(left, 0, 1'000'000)));
    if (ready > 0) return true;
    if (ready == 0 && Clock::now() >= until) return false;
    if (ready < 0 && errno != EINTR) return false;
  }
}

}  // namespace

bool read_exactly(int socket, void* data, std::size_t bytes, Clock::time_point until) {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    if (!wait_for(socket, POLLIN, until)) return false;
    const ssize_t got = ::recv(socket, to, bytes, 0);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return false;
    to += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

bool write_exactly(int socket, const void* data, std::size_t bytes, Clock::time_point until) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    if (!wait_for(socket, POLLOUT, until)) return false;
    const ssize_t sent = ::send(socket, from, bytes, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (sent <= 0) return false;
    from += sent;
    bytes -= static_cast<std::size_t>(sent);
  }
  return true;
}

ControlChannel::ControlChannel(int socket) : socket_(socket) {
  const int on = 1;
  ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}
ControlChannel::ControlChannel(ControlChannel&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), buffer_(std::move(other.buffer_)) {}
ControlChannel& ControlChannel::operator=(ControlChannel&& other) noexcept {
  std::swap(socket_, other.socket_);
  std::swap(buffer_, other.buffer_);
  return *this;
}
ControlChannel::~ControlChannel() {
  if (socket_ >= 0) ::close(socket_);
}

core::Expected<void> ControlChannel::send(const proto::Control& message) {
  const std::string body = message.SerializeAsString();
  const auto length = static_cast<std::uint32_t>(body.size());
  std::string bytes(reinterpret_cast<const char*>(&length), sizeof length);
  bytes += body;
  if (write_exactly(socket_, bytes.data(), bytes.size(), Clock::now() + std::chrono::seconds(10))) return {};
  return tl::make_unexpected(run_error("is gone"));
}

core::Expected<std::unique_ptr<proto::Control>> ControlChannel::receive(Clock::time_point until) {
  while (true) {
    std::uint32_t length = 0;
    if (buffer_.size() >= sizeof length) {
      std::memcpy(&length, buffer_.data(), sizeof length);
      if (length > kLongestMessage) return tl::make_unexpected(run_error("sent something that is no message of Tutti"));
      if (buffer_.size() >= sizeof length + length) {
        auto message = std::make_unique<proto::Control>();
        if (!message->ParseFromArray(buffer_.data() + sizeof length, static_cast<int>(length)))
          return tl::make_unexpected(run_error("sent something that is no message of Tutti"));
        buffer_.erase(0, sizeof length + length);
        return message;
      }
    }
    if (!wait_for(socket_, POLLIN, until)) return nullptr;
    char chunk[64 << 10];
    const ssize_t got = ::recv(socket_, chunk, sizeof chunk, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return tl::make_unexpected(run_error("is gone"));
    buffer_.append(chunk, static_cast<std::size_t>(got));
  }
}

core::Expected<Listener> Listener::open() {
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (socket < 0 || ::bind(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket, 1024) != 0 || ::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    const std::string why = std::strerror(errno);
    if (socket >= 0) ::close(socket);
    return tl::make_unexpected(run_error("cannot listen on loopback: " + why));
  }
  return Listener(socket, ntohs(address.sin_port));
}

Listener::Listener(Listener&& other) noexcept : socket_(std::exchange(other.socket_, -1)), port_(other.port_) {}
Listener::~Listener() {
  if (socket_ >= 0) ::close(socket_);
}

std::optional<int> Listener::accept(Clock::time_point until) {
  if (!wait_for(socket_, POLLIN, until)) return std::nullopt;
  const int accepted = ::accept4(socket_, nullptr, nullptr, SOCK_CLOEXEC);
  if (accepted < 0) return std::nullopt;
  return accepted;
}

core::Expected<int> connect_to(const std::string& host, int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket >= 0 && ::inet_pton(AF_INET, host.c_str(), &address.sin_addr) == 1 &&
      ::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
    return socket;
  }
  const std::string why = std::strerror(errno);
  if (socket >= 0) ::close(socket);
  return tl::make_unexpected(run_error(fmt::format("{}:{} does not answer: {}", host, port, why)));
}

}  // namespace tutti::real
