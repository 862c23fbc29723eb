// A worker first finds the coordinator and later all other workers. find_coordinator() repeats
// complete attempts, since the coordinator may start later than its workers. final_word() detects
// errors that another attempt cannot cure. In the mesh between workers, each worker connects to
// workers with lower numbers, and accepts connections from workers with higher numbers, so no pair
// connects twice. The connections between two workers may be accepted in any order, so the
// connecting worker first sends a control message with the connection's index on each connection.
// reception.cpp performs the handshakes, which authenticate both ends; this file decides what to do
// with their results.

#include "real/join/meeting.h"
#include "real/join/worker_numbers.h"
#include "real/wire/frame.h"
#include "real/wire/protocol.h"

#include <poll.h>

#include <array>
#include <cerrno>

#include <fmt/format.h>

namespace tutti::real {

using core::Error;
using core::Expected;
using Clock = Reception::Clock;
using State = Handshake::State;

namespace {

constexpr std::chrono::seconds kOneTry{10};

/// Returns the end of the error message about a listener that has another secret, or belongs to
/// another run. If the listener has stated an incompatible version, which may be the cause of these
/// errors, the end names both versions; otherwise, it is empty.
std::string or_another_version(const Reception::Event& event) {
  if (event.stated_version.empty() || is_compatible(event.stated_version)) return "";
  return fmt::format(" or is another version of Tutti (theirs: {}, ours: {})", event.stated_version,
                     protocol());
}

/// Returns the error of an attempt to join if all later attempts would also fail; nullopt if
/// another attempt may succeed.
std::optional<Error> final_word(const Reception::Event& event, const Address& at) {
  const std::string place = to_string(at);
  switch (event.state) {
    case State::kRefused:
    case State::kWrongSecret:
      return Error::request(
          fmt::format("the coordinator at {} has a different secret{}; give every worker the "
                      "coordinator's secret (TUTTI_SECRET or --secret-file)",
                      place, or_another_version(event)));
    case State::kAnotherRun:
      return Error::request(
          fmt::format("the process at {} is a worker of a run instead of its coordinator{}", place,
                      or_another_version(event)));
    case State::kUnknownProtocol:
      if (event.failure.empty())
        return Error::request(
            fmt::format("the program listening at {} is not a coordinator of Tutti", place));
      return std::nullopt;
    case State::kOtherTls:
      return Error::request({core::ProblemCode::kConflict, "--tls"},
                            fmt::format("the coordinator at {} has another setting of --tls; give "
                                        "every process of the run the same --tls",
                                        place));
    case State::kTlsFailed:
      if (event.failure.empty() || event.closed) return std::nullopt;
      return Error::run(
          {core::ProblemCode::kLost, "--tls"},
          fmt::format("TLS with the coordinator at {} failed: {}", place, event.failure));
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
    Clock::time_point until, const std::function<bool()>& stop,
    const std::shared_ptr<const TlsContext>& tls) {
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
      Reception::Options options;
      options.secret = appointment->secret;
      options.tls = tls;
      Reception reception(options, nullptr);
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
        return CoordinatorFound{std::move(event.connection), *appointment, event.run,
                                options.secret, event.peer.version};
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
        reception_(reception_options(meeting), &listener),
        streams_(meeting.streams),
        connections_(meeting.peers.size()) {}

  Expected<std::vector<Connection>> meet(const std::function<Expected<void>()>& idle) {
    for (std::int32_t w = 0; w < meeting_.worker; ++w) {
      for (std::size_t i = 0; i < streams_; ++i) reach(w);
    }
    std::vector<std::int32_t> away = missing();
    for (; !away.empty(); away = missing()) {
      if (auto wanted = idle(); !wanted) return tl::make_unexpected(wanted.error());
      if (Clock::now() > meeting_.until)
        return tl::make_unexpected(Error::run({core::ProblemCode::kLost, "", away.front()},
                                              numbered_workers(away) + " did not connect in time"));
      std::vector<int> others;
      if (meeting_.coordinator >= 0) others.push_back(meeting_.coordinator);
      for (Reception::Event& event :
           reception_.wait(Clock::now() + std::chrono::milliseconds(50), others)) {
        if (auto met = take(std::move(event)); !met) return tl::make_unexpected(met.error());
      }
    }
    if (auto numbered = number_streams(idle); !numbered)
      return tl::make_unexpected(numbered.error());
    std::vector<Connection> all;
    for (std::vector<Connection>& connections : connections_) {
      connections.resize(streams_);
      for (Connection& connection : connections) all.push_back(std::move(connection));
    }
    return all;
  }

 private:
  static Reception::Options reception_options(const PeerConnectionOptions& meeting) {
    Reception::Options options;
    options.secret = meeting.secret;
    options.self = introduction(meeting.worker);
    options.run = meeting.run;
    options.most_waiting = 64 + meeting.peers.size() * static_cast<std::size_t>(meeting.streams);
    options.tls = meeting.tls;
    return options;
  }

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
    for (std::int32_t w = 0; w < static_cast<std::int32_t>(connections_.size()); ++w) {
      if (w != meeting_.worker && connections_[w].size() < streams_) workers.push_back(w);
    }
    return workers;
  }

  /// Numbers the connections of each pair. The connections may arrive in any order, so the worker
  /// that opened them sends one control message with the number of each connection.
  Expected<void> number_streams(const std::function<Expected<void>()>& idle) {
    const std::size_t own = meeting_.worker;
    for (std::size_t w = 0; w < own && streams_ > 1; ++w) {
      for (std::size_t i = 0; i < connections_[w].size(); ++i) {
        Connection& connection = connections_[w][i];
        const std::string number =
            FrameWriter(connection.keys().send).framed(std::string(1, static_cast<char>(i)));
        // A new connection accepts these few bytes at once. A lost peer is noticed later.
        static_cast<void>(connection.send(number.data(), number.size()));
      }
    }
    for (std::size_t w = own + 1; w < connections_.size() && streams_ > 1; ++w) {
      std::vector<Connection> in_order(streams_);
      for (Connection& connection : connections_[w]) {
        auto number = read_number(connection, idle);
        if (!number) return tl::make_unexpected(number.error());
        if (!*number || **number >= streams_ || in_order[**number])
          return tl::make_unexpected(
              Error::run({core::ProblemCode::kProtocol, "", static_cast<std::int32_t>(w)},
                         fmt::format("worker {} sent no valid index of a connection", w)));
        in_order[**number] = std::move(connection);
      }
      connections_[w] = std::move(in_order);
    }
    return {};
  }

  /// Reads a control message of one byte, and leaves all later bytes unread. Returns nullopt if
  /// none arrives in time.
  Expected<std::optional<std::size_t>> read_number(Connection& connection,
                                                   const std::function<Expected<void>()>& idle) {
    FrameReader reader(1, connection.keys().receive);
    std::size_t left = framed_size(1);
    while (left > 0 && Clock::now() < meeting_.until) {
      if (auto wanted = idle(); !wanted) return tl::make_unexpected(wanted.error());
      std::array<char, 32> bytes{};
      const ssize_t got = connection.receive(bytes.data(), left);
      if (got > 0) {
        reader.take({bytes.data(), static_cast<std::size_t>(got)});
        left -= got;
        continue;
      }
      if (got == 0 || (errno != EINTR && errno != EAGAIN)) break;
      pollfd file{connection.file(), POLLIN, 0};
      ::poll(&file, 1, 20);
    }
    const auto number = reader.next();
    if (!number || !*number || (*number)->size() != 1) return std::nullopt;
    return std::optional<std::size_t>(static_cast<unsigned char>((*number)->front()));
  }

  Expected<void> take(Reception::Event event) {
    const std::int32_t w = event.reached ? event.worker : event.peer.joiner;
    if (event.state == State::kDone) {
      // The coordinator has checked the versions. A worker with a lower number, or a worker that
      // connects too often, does not belong to this run.
      const bool due = event.reached ||
                       (w > meeting_.worker && w < static_cast<std::int32_t>(connections_.size()));
      if (due && connections_[w].size() < streams_)
        connections_[w].push_back(std::move(event.connection));
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
  std::vector<std::vector<Connection>> connections_;  ///< by worker
};

}  // namespace

Expected<std::vector<Connection>> connect_peers(const PeerConnectionOptions& meeting,
                                                const Listener& listener,
                                                const std::function<Expected<void>()>& idle) {
  return Mesh(meeting, listener).meet(idle);
}

}  // namespace tutti::real
