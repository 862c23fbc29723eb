#include "tests/support/cluster.h"

#include <poll.h>

#include <vector>

namespace tutti::test {

using real::Reception;

namespace {
constexpr std::chrono::seconds kPatience{30};
}

std::optional<real::ControlChannel> join_as(int port, const std::string& secret,
                                            const std::string& version, std::int32_t worker,
                                            std::string* their_version) {
  const auto until = Reception::Clock::now() + kPatience;
  Reception::Options options;
  options.secret = secret;
  Reception reception(options, nullptr);
  reception.reach({"127.0.0.1", port},
                  {real::Purpose::kControl, worker, real::kCoordinator, version}, {}, until);
  for (Reception::Event& event : reception.wait(until)) {
    if (event.state != real::Handshake::State::kDone) continue;
    if (their_version) *their_version = event.peer.version;
    return real::ControlChannel(std::move(event.connection),
                                real::ControlChannel::kLongestAssignment);
  }
  return std::nullopt;
}

std::optional<real::ControlChannel> let_in(const real::Listener& listener,
                                           const std::string& secret, const std::string& version) {
  Reception::Options options;
  options.secret = secret;
  options.self = {real::Purpose::kControl, real::kAnyWorker, real::kCoordinator, version};
  Reception reception(options, &listener);
  for (Reception::Event& event : reception.wait(Reception::Clock::now() + kPatience)) {
    if (event.state == real::Handshake::State::kDone)
      return real::ControlChannel(std::move(event.connection),
                                  real::ControlChannel::kLongestAssignment);
  }
  return std::nullopt;
}

real::Socket connect_plainly(int port) {
  auto socket = real::begin_connecting({"127.0.0.1", port});
  if (!socket) return {};
  pollfd entry{socket->get(), POLLOUT, 0};
  ::poll(&entry, 1, 10'000);
  return std::move(*socket);
}

}  // namespace tutti::test
