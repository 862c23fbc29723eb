#include "real/join/control.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "real/proto/run.pb.h"

namespace tutti::real {

using core::Error;
using Clock = ControlChannel::Clock;

namespace {

/// The maximum number of bytes that receive() reads from the socket after its time limit.
constexpr std::size_t kMaxWhenLate = std::size_t{1} << 20;

/// Waits for `events` on the socket. Returns false if the time `until` is reached before any of the
/// events.
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

ControlChannel::ControlChannel(Connection connection, std::size_t longest)
    : connection_(std::move(connection)),
      reader_(longest, connection_.keys().receive),
      writer_(connection_.keys().send),
      sending_(std::make_unique<std::mutex>()) {
  const int on = 1;
  ::setsockopt(file(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // Enable keep-alive probes, since a machine that loses power does not close its connections.
  const int idle_s = 10, interval_s = 5, probes = 4;
  ::setsockopt(file(), SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(file(), IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof idle_s);
  ::setsockopt(file(), IPPROTO_TCP, TCP_KEEPINTVL, &interval_s, sizeof interval_s);
  ::setsockopt(file(), IPPROTO_TCP, TCP_KEEPCNT, &probes, sizeof probes);
}

core::Expected<void> ControlChannel::send(const proto::Control& message) {
  return send_bytes(message.SerializeAsString());
}

core::Expected<void> ControlChannel::send_bytes(std::string_view message) {
  const std::lock_guard lock(*sending_);
  const std::string bytes = writer_.framed(message);
  Clock::time_point until = Clock::now() + std::chrono::seconds(10);
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t sent = connection_.send(bytes.data() + done, bytes.size() - done);
    if (sent > 0) {
      done += sent;
      until = Clock::now() + std::chrono::seconds(10);
    }
    if (sent > 0 || (sent < 0 && errno == EINTR)) continue;
    if (errno != EAGAIN || !wait_for(file(), POLLOUT, until))
      return tl::make_unexpected(Error::run({core::ProblemCode::kLost}, "has disconnected"));
  }
  return {};
}

core::Expected<std::unique_ptr<proto::Control>> ControlChannel::receive(Clock::time_point until) {
  for (std::size_t taken = 0;;) {
    const auto frame = reader_.next();
    if (!frame) return tl::make_unexpected(frame.error());
    if (*frame) {
      last_size_ = (*frame)->size();
      auto message = std::make_unique<proto::Control>();
      if (!message->ParseFromArray((*frame)->data(), static_cast<int>((*frame)->size())))
        return tl::make_unexpected(
            Error::run({core::ProblemCode::kProtocol}, "sent data that is not a message of Tutti"));
      return message;
    }
    char chunk[64 << 10];
    const ssize_t got = connection_.receive(chunk, sizeof chunk);
    if (got > 0) {
      reader_.take({chunk, static_cast<std::size_t>(got)});
      arrived_ += static_cast<std::uint64_t>(got);
      taken += got;
      if (taken > kMaxWhenLate && Clock::now() >= until) return nullptr;
      continue;
    }
    if (got == 0) {
      return tl::make_unexpected(
          Error::run({core::ProblemCode::kLost}, reader_.in_the_middle()
                                                     ? "disconnected in the middle of a message"
                                                     : "has disconnected"));
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN)
      return tl::make_unexpected(Error::run({core::ProblemCode::kLost}, "has disconnected"));
    if (!wait_for(file(), POLLIN, until)) return nullptr;
  }
}

}  // namespace tutti::real
