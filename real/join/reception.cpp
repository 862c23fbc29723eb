#include "real/join/reception.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tutti::real {
namespace {

/// The maximum time for which a connection stays open after this end has refused TLS.
constexpr std::chrono::seconds kDrainTimeout{2};

}  // namespace

void Reception::reach(const Address& to, Introduction self, std::optional<RunId> run,
                      Clock::time_point until) {
  const std::int32_t worker = self.listener;
  self.tls = mode();
  auto socket = begin_connecting(to);
  if (!socket) {
    Event event;
    event.reached = true;
    event.worker = worker;
    event.host = to.host;
    event.failure = socket.error().message();
    at_once_.push_back(std::move(event));
    return;
  }
  guests_.push_back(std::make_unique<Guest>(
      Guest{std::move(*socket),
            Handshake::join(options_.secret, std::move(self), random_nonce(), run),
            until,
            true,
            true,
            worker,
            {},
            {},
            to.host}));
}

void Reception::accept_all() {
  // Accept a limited number of connections at a time, so that a flood of new connections does not
  // delay the existing connections.
  for (int i = 0; i < 16; ++i) {
    auto socket = listener_->accept();
    const auto came = [](const std::unique_ptr<Guest>& g) { return !g->reached; };
    if (!socket) {
      // If this process has no free file descriptors, drop the oldest connection in handshake.
      if (errno != EMFILE && errno != ENFILE) return;
      const auto first = std::find_if(guests_.begin(), guests_.end(), came);
      if (!refused_.empty())
        refused_.erase(refused_.begin());
      else if (first != guests_.end())
        guests_.erase(first);
      ::poll(nullptr, 0, 10);
      return;
    }
    if (static_cast<std::size_t>(std::count_if(guests_.begin(), guests_.end(), came)) >=
        options_.most_waiting)
      guests_.erase(std::find_if(guests_.begin(), guests_.end(), came));
    const std::string host = their_host(socket->get());
    guests_.push_back(std::make_unique<Guest>(
        Guest{std::move(*socket),
              Handshake::listen(options_.secret, options_.self, random_nonce(), options_.run),
              Clock::now() + options_.patience,
              false,
              false,
              0,
              {},
              {},
              host}));
  }
}

bool Reception::advance(Guest& guest, std::string& failure) {
  if (guest.connecting) {
    pollfd entry{guest.socket.get(), POLLOUT, 0};
    if (::poll(&entry, 1, 0) <= 0) return true;
    if (const auto why = connecting_failed(guest.socket)) {
      failure = *why;
      return false;
    }
    guest.connecting = false;
  }
  while (true) {
    guest.out += guest.handshake.output();
    if (!guest.out.empty()) {
      const ssize_t sent = ::send(guest.socket.get(), guest.out.data(), guest.out.size(),
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
      if (sent < 0 && errno != EAGAIN && errno != EINTR) {
        failure = std::strerror(errno);
        return false;
      }
      if (sent > 0) guest.out.erase(0, static_cast<std::size_t>(sent));
      if (!guest.out.empty()) return true;
    }
    const std::size_t wanted = guest.handshake.wants();
    if (wanted == 0) return advance_tls(guest, failure);
    char bytes[128];
    const ssize_t got = ::recv(guest.socket.get(), bytes,
                               std::min(sizeof bytes, wanted - guest.in.size()), MSG_DONTWAIT);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return true;
    if (got <= 0) {
      guest.closed = got == 0;
      failure = guest.closed ? "the connection was closed" : std::strerror(errno);
      return false;
    }
    guest.in.append(bytes, static_cast<std::size_t>(got));
    if (guest.in.size() == wanted) guest.handshake.take(std::exchange(guest.in, {}));
  }
}

bool Reception::advance_tls(Guest& guest, std::string& failure) const {
  if (!options_.tls || guest.handshake.state() != Handshake::State::kDone) return false;
  if (!guest.tls)
    guest.tls = std::make_unique<Tls>(options_.tls, guest.socket.get(), guest.reached,
                                      guest.handshake.keys());
  const Tls::Progress progress = guest.tls->handshake();
  guest.tls_done = progress == Tls::Progress::kDone;
  guest.tls_writes = progress == Tls::Progress::kWrites;
  if (progress == Tls::Progress::kFailed) {
    failure = guest.tls->failure();
    guest.closed = guest.tls->closed();
  }
  return progress == Tls::Progress::kReads || progress == Tls::Progress::kWrites;
}

void Reception::refuse(Guest& guest) {
  guest.tls.reset();
  ::shutdown(guest.socket.get(), SHUT_WR);
  if (refused_.size() >= options_.most_waiting) refused_.erase(refused_.begin());
  refused_.push_back({std::move(guest.socket), Clock::now() + kDrainTimeout});
}

void Reception::drain_refused() {
  std::erase_if(refused_, [](const Refused& refused) {
    char bytes[4096];
    const ssize_t got = ::recv(refused.socket.get(), bytes, sizeof bytes, MSG_DONTWAIT);
    const bool open = got > 0 || (got < 0 && (errno == EAGAIN || errno == EINTR));
    return !open || Clock::now() >= refused.until;
  });
}

Reception::Event Reception::ended(Guest& guest, std::string failure) const {
  Event event;
  event.reached = guest.reached;
  event.worker = guest.worker;
  event.host = guest.host;
  event.failure = std::move(failure);
  event.closed = guest.closed;
  event.stated_version = guest.handshake.stated_version();
  event.state = guest.handshake.state() == Handshake::State::kRunning
                    ? Handshake::State::kUnknownProtocol
                    : guest.handshake.state();
  if (event.state == Handshake::State::kDone && options_.tls && !guest.tls_done)
    event.state = Handshake::State::kTlsFailed;
  if (event.state != Handshake::State::kDone) return event;
  event.peer = guest.handshake.peer();
  event.run = guest.handshake.run();
  event.connection =
      Connection(std::move(guest.socket), guest.handshake.keys(), std::move(guest.tls));
  return event;
}

std::vector<Reception::Event> Reception::wait(Clock::time_point until,
                                              const std::vector<int>& others) {
  std::vector<Event> events = std::exchange(at_once_, {});
  while (true) {
    for (std::size_t i = 0; i < guests_.size();) {
      std::string failure;
      const bool goes_on = advance(*guests_[i], failure);
      const bool late = goes_on && Clock::now() >= guests_[i]->until;
      if (goes_on && !late) {
        ++i;
        continue;
      }
      if (late) {
        failure = "no answer within the timeout";
        guests_[i]->closed = guests_[i]->closed || guests_[i]->tls;
      }
      events.push_back(ended(*guests_[i], failure));
      if (events.back().state == Handshake::State::kTlsFailed && !events.back().closed &&
          !guests_[i]->reached)
        refuse(*guests_[i]);
      guests_.erase(guests_.begin() + i);
    }
    drain_refused();
    if (!events.empty() || Clock::now() >= until) return events;
    std::vector<pollfd> files;
    for (const int other : others) files.push_back({other, POLLIN, 0});
    if (listener_) files.push_back({listener_->file(), POLLIN, 0});
    Clock::time_point next = until;
    for (const std::unique_ptr<Guest>& guest : guests_) {
      const bool writes = guest->connecting || !guest->out.empty() || guest->tls_writes;
      files.push_back({guest->socket.get(), static_cast<short>(writes ? POLLOUT : POLLIN), 0});
      next = std::min(next, guest->until);
    }
    for (const Refused& refused : refused_) {
      files.push_back({refused.socket.get(), POLLIN, 0});
      next = std::min(next, refused.until);
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - Clock::now()).count();
    ::poll(files.data(), files.size(), static_cast<int>(std::clamp<long>(left, 0, 60'000)));
    if (listener_ && files[others.size()].revents != 0) accept_all();
    for (std::size_t i = 0; i < others.size(); ++i) {
      if (files[i].revents != 0) return events;
    }
  }
}

}  // namespace tutti::real
