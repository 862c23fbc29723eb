// A worker first finds the coordinator and later all other workers. The function find_coordinator()
// repeats complete attempts, because the coordinator may start later than its workers. The function
// final_word() detects errors that would occur again in every later attempt. In the mesh between
// workers, each worker connects to workers with lower numbers, and accepts connections from workers
// with higher numbers, so no pair connects twice. The connections of a pair may be accepted in any
// order, so the connecting worker sends the index of each as one byte. The file reception.cpp
// performs the handshakes, which authenticate both ends; this file decides what to do with their
// results.

#include "real/join/meeting.h"
#include "real/wire/protocol.h"

#include <poll.h>
#include <sys/socket.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tutti::real {

using core::Error;
using core::Expected;
using Clock = Reception::Clock;
using State = Handshake::State;

namespace {

constexpr std::chrono::seconds kOneTry{10};

/// Returns the error of an attempt to join if all later attempts would also fail; nullopt if
/// another attempt may succeed.
std::optional<Error> final_word(const Reception::Event& event, const Address& at) {
  const std::string place = to_string(at);
  switch (event.state) {
    case State::kRefused:
    case State::kWrongSecret:
      return Error::request(
          fmt::format("the coordinator at {} has a different secret; give every worker the "
                      "coordinator's secret (TUTTI_SECRET or --secret-file)",
                      place));
    case State::kAnotherRun:
      return Error::request(
          fmt::format("the process at {} is a worker of a run, not its coordinator", place));
    case State::kUnknownProtocol:
      if (event.failure.empty())
        return Error::request(
            fmt::format("the program listening at {} is not a coordinator of Tutti", place));
      return std::nullopt;
    case State::kDone:
      if (is_compatible(event.peer.version)) return std::nullopt;
      return Error::run({core::ProblemCode::kIncompatible},
                        fmt::format("the coordinator at {} is Tutti {}, but this worker is Tutti "
                                    "{}; use the same version",
                                    place, event.peer.version, protocol()));
    case State::kRunning: break;
  }
  return std::nullopt;
}

}  // namespace

Expected<CoordinatorFound> find_coordinator(
    const std::function<std::optional<Appointment>()>& where, std::int32_t worker,
    Clock::time_point until, const std::function<bool()>& stop) {
  const auto began = Clock::now();
  std::string last = "the coordinator's address is unknown";
  /// The address and secret that failed because the coordinator refused the connection; they may
  /// belong to an earlier run.
  std::optional<Appointment> refused;
  while (true) {
    if (stop())
      return tl::make_unexpected(
          Error::run({core::ProblemCode::kStopped}, "interrupted before the run began"));
    if (const auto appointment = where(); appointment && appointment != refused) {
      Reception reception({appointment->secret, {}, {}}, nullptr);
      const Introduction self{Purpose::kControl, worker, kCoordinator, std::string(protocol())};
      const auto this_try = std::min(until, Clock::now() + kOneTry);
      reception.reach(appointment->coordinator, self, std::nullopt, this_try);
      std::vector<Reception::Event> events;
      while (events.empty() && !stop())
        events = reception.wait(Clock::now() + std::chrono::milliseconds(100));
      if (events.empty()) continue;
      Reception::Event& event = events.front();
      const auto word = final_word(event, appointment->coordinator);
      if (word && !appointment->may_be_stale) return tl::make_unexpected(*word);
      if (word) {
        refused = appointment;
        last = word->message();
        continue;
      }
      if (event.state == State::kDone)
        return CoordinatorFound{std::move(event.socket), *appointment, event.run};
      last = fmt::format("the coordinator does not answer at {}: {}",
                         to_string(appointment->coordinator), event.failure);
    }
    if (Clock::now() >= until) {
      const double waited = std::chrono::duration<double>(Clock::now() - began).count();
      return tl::make_unexpected(Error::run({core::ProblemCode::kLost},
                                            fmt::format("{} (tried for {:.3g} s)", last, waited)));
    }
    ::poll(nullptr, 0, 100);
  }
}

namespace {

class Mesh {
 public:
  Mesh(const PeerConnectionOptions& meeting, const Listener& listener)
      : meeting_(meeting),
        reception_({meeting.secret, introduction(meeting.worker), meeting.run,
                    64 + meeting.peers.size() * static_cast<std::size_t>(meeting.streams)},
                   &listener),
        streams_(static_cast<std::size_t>(meeting.streams)),
        sockets_(meeting.peers.size()) {}

  Expected<std::vector<int>> meet(const std::function<Expected<void>()>& idle) {
    for (std::int32_t w = 0; w < meeting_.worker; ++w) {
      for (std::size_t i = 0; i < streams_; ++i) reach(w);
    }
    std::vector<std::int32_t> away = missing();
    for (; !away.empty(); away = missing()) {
      if (auto wanted = idle(); !wanted) return tl::make_unexpected(wanted.error());
      if (Clock::now() > meeting_.until)
        return tl::make_unexpected(
            Error::run({core::ProblemCode::kLost, "", away.front()},
                       fmt::format("worker {} never came", fmt::join(away, ", "))));
      std::vector<int> others;
      if (meeting_.coordinator >= 0) others.push_back(meeting_.coordinator);
      for (Reception::Event& event :
           reception_.wait(Clock::now() + std::chrono::milliseconds(50), others)) {
        if (auto met = take(std::move(event)); !met) return tl::make_unexpected(met.error());
      }
    }
    if (auto numbered = number_streams(idle); !numbered)
      return tl::make_unexpected(numbered.error());
    std::vector<int> files;
    for (std::vector<Socket>& sockets : sockets_) {
      sockets.resize(streams_);
      for (Socket& socket : sockets) files.push_back(socket.release());
    }
    return files;
  }

 private:
  static Introduction introduction(std::int32_t listener) {
    return {Purpose::kPeer, kAnyWorker, listener, std::string(protocol())};
  }

  void reach(std::int32_t worker) {
    Introduction self = introduction(worker);
    self.joiner = meeting_.worker;
    reception_.reach(meeting_.peers[worker], self, meeting_.run, meeting_.until);
  }

  [[nodiscard]] std::vector<std::int32_t> missing() const {
    std::vector<std::int32_t> workers;
    for (std::int32_t w = 0; w < static_cast<std::int32_t>(sockets_.size()); ++w) {
      if (w != meeting_.worker && sockets_[w].size() < streams_) workers.push_back(w);
    }
    return workers;
  }

  /// Agrees on numbers for the connections between this worker and each peer. The connections may
  /// be accepted in any order, so the worker that opened a connection sends the connection's number
  /// as one byte.
  Expected<void> number_streams(const std::function<Expected<void>()>& idle) {
    for (std::size_t w = 0; w < sockets_.size() && streams_ > 1; ++w) {
      for (std::size_t i = 0;
           i < sockets_[w].size() && static_cast<std::int32_t>(w) < meeting_.worker; ++i) {
        const auto number = static_cast<char>(i);
        static_cast<void>(::send(sockets_[w][i].get(), &number, 1,
                                 MSG_NOSIGNAL));  // a lost peer is noticed later
      }
    }
    for (std::size_t w = static_cast<std::size_t>(meeting_.worker) + 1;
         w < sockets_.size() && streams_ > 1; ++w) {
      std::vector<Socket> in_order(streams_);
      for (Socket& socket : sockets_[w]) {
        auto number = read_byte(socket, idle);
        if (!number) return tl::make_unexpected(number.error());
        if (!*number || **number >= streams_ || in_order[**number])
          return tl::make_unexpected(
              Error::run({core::ProblemCode::kProtocol, "", static_cast<std::int32_t>(w)},
                         fmt::format("worker {} sent no connection index", w)));
        in_order[**number] = std::move(socket);
      }
      sockets_[w] = std::move(in_order);
    }
    return {};
  }

  /// Reads a byte. Returns nullopt if no byte arrives in time.
  Expected<std::optional<std::size_t>> read_byte(const Socket& socket,
                                                 const std::function<Expected<void>()>& idle) {
    while (Clock::now() < meeting_.until) {
      if (auto wanted = idle(); !wanted) return tl::make_unexpected(wanted.error());
      pollfd file{socket.get(), POLLIN, 0};
      if (::poll(&file, 1, 20) <= 0) continue;
      unsigned char byte = 0;
      const ssize_t got = ::recv(socket.get(), &byte, 1, MSG_DONTWAIT);
      if (got == 1) return std::optional<std::size_t>(byte);
      if (got == 0 || (errno != EINTR && errno != EAGAIN)) break;
    }
    return std::nullopt;
  }

  Expected<void> take(Reception::Event event) {
    const std::int32_t w = event.reached ? event.worker : event.peer.joiner;
    if (event.state == State::kDone) {
      // The coordinator has checked the versions. A worker with a lower number does not belong to
      // this run, nor does a worker that connects too often.
      const bool due =
          event.reached || (w > meeting_.worker && w < static_cast<std::int32_t>(sockets_.size()));
      if (due && sockets_[w].size() < streams_) sockets_[w].push_back(std::move(event.socket));
      return {};
    }
    if (!event.reached) return {};  // an unrelated connection
    const std::string at = to_string(meeting_.peers[w]);
    // An overloaded listener may have closed the connection, so try again.
    if (event.closed && Clock::now() < meeting_.until) {
      ::poll(nullptr, 0, 20);
      reach(w);
      return {};
    }
    if (event.failure.empty())
      return tl::make_unexpected(
          Error::run({core::ProblemCode::kProtocol, "", w},
                     fmt::format("the process listening at {} is not worker {}", at, w)));
    return tl::make_unexpected(
        Error::run({core::ProblemCode::kLost, "", w},
                   fmt::format("worker {} cannot be reached at {}: {}", w, at, event.failure)));
  }

  const PeerConnectionOptions& meeting_;
  Reception reception_;
  std::size_t streams_;
  std::vector<std::vector<Socket>> sockets_;  ///< by worker
};

}  // namespace

Expected<std::vector<int>> connect_peers(const PeerConnectionOptions& meeting,
                                         const Listener& listener,
                                         const std::function<Expected<void>()>& idle) {
  return Mesh(meeting, listener).meet(idle);
}

}  // namespace tutti::real
