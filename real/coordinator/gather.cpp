// Anyone can connect to the coordinator, so each connection passes three stages: the handshake
// (Reception), an introduction of at most 4 KiB within ten seconds, and the assignment of a worker
// number. No stage blocks: one loop polls all connections. At least every 50 ms, the loop also
// checks for workers that have ended or left. The number of connections in the first two stages is
// limited. The oldest connection is dropped first, so that silent peers cannot exhaust memory.
// Rejected peers are only counted, for the error message about a worker that never joins. A worker
// with another version of Tutti ends the run, because only the user can correct the version. The
// file worker_set.h handles the workers after they have joined.

#include "real/coordinator/gather.h"

#include <algorithm>
#include <memory>

#include <fmt/format.h>

#include "real/coordinator/worker_set.h"
#include "real/join/worker_numbers.h"
#include "real/proto/run.pb.h"
#include "real/wire/failure.h"
#include "real/wire/peer_text.h"
#include "real/wire/protocol.h"
#include "real/worker/machine.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::ProblemCode;
using Clock = Reception::Clock;
using State = Handshake::State;

namespace {

/// The maximum number of connections that have completed the handshake but not the introduction, in
/// addition to the number of workers.
constexpr std::size_t kMaxPendingPeers = 64;

/// A connection that has completed the handshake and is about to introduce itself.
struct PendingPeer {
  ControlChannel channel;
  Introduction who;
  std::string host;
  Clock::time_point until;
};

/// Counts of rejected peers, which are reported if a worker never joins.
struct RejectedPeers {
  int without_secret = 0;
  int other_tls = 0;
  int others = 0;
  std::string last_host, tls_failure;

  void add(const Reception::Event& event) {
    const bool tls = event.state == State::kOtherTls || event.state == State::kTlsFailed;
    (event.state == State::kWrongSecret ? without_secret : tls ? other_tls : others) += 1;
    if (event.state == State::kWrongSecret) last_host = event.host;
    if (tls)
      tls_failure =
          fmt::format("from {}: {}", event.host,
                      event.state == State::kOtherTls ? "that process has another setting of --tls"
                                                      : event.failure);
  }
  [[nodiscard]] std::string in_words() const {
    std::string words;
    if (without_secret > 0)
      words += fmt::format("; {} connections with a wrong secret (the last one from {})",
                           without_secret, last_host);
    if (other_tls > 0)
      words += fmt::format("; {} connections whose TLS failed (the last one {})", other_tls,
                           tls_failure);
    if (others > 0)
      words += fmt::format("; {} connections of programs that are not workers of Tutti", others);
    return words.empty() ? words : "; refused: " + words.substr(2);
  }
};

Reception::Options reception_options(const Gathering& gathering, const RunId& run,
                                     std::size_t workers) {
  Reception::Options options;
  options.secret = gathering.secret;
  options.self = {Purpose::kControl, kAnyWorker, kCoordinator, std::string(protocol())};
  options.run = run;
  options.most_waiting = 64 + workers;
  options.tls = gathering.tls;
  return options;
}

void refuse(ControlChannel& channel, const Error& why) {
  proto::Control message;
  write_failure(why, *message.mutable_failure());
  static_cast<void>(channel.send(message));
  channel.end_sending();
}

class Gatherer {
 public:
  Gatherer(WorkerSet& worker_set, Children& children, const Gathering& gathering,
           const Listener& listener, const RunId& run)
      : worker_set_(worker_set),
        children_(children),
        gathering_(gathering),
        listener_(listener),
        reception_(reception_options(gathering, run, worker_set.size()), &listener) {}

  Expected<void> run() {
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(gathering_.wait);
    for (;;) {
      if (worker_set_.cancelled())
        return tl::make_unexpected(Error::run({ProblemCode::kStopped}, "stopped"));
      if (auto here = check_joined_workers(); !here) return here;
      if (missing().empty()) return {};
      if (Clock::now() > until) return tl::make_unexpected(missing_workers_error());
      for (Reception::Event& event :
           reception_.wait(Clock::now() + std::chrono::milliseconds(50), files())) {
        if (auto met = meet(std::move(event)); !met) return met;
      }
      read_introductions();
    }
  }

 private:
  [[nodiscard]] bool spawned(std::size_t worker) const {
    return gathering_.spawn == Gathering::Spawn::kAll ||
           (gathering_.spawn == Gathering::Spawn::kFirst && worker == 0);
  }

  [[nodiscard]] std::vector<std::int32_t> missing() const {
    std::vector<std::int32_t> workers;
    for (std::size_t w = 0; w < worker_set_.size(); ++w) {
      if (!worker_set_[w].channel) workers.push_back(static_cast<std::int32_t>(w));
    }
    return workers;
  }

  [[nodiscard]] std::vector<int> files() const {
    std::vector<int> files;
    for (const PendingPeer& i : pending_peers_) files.push_back(i.channel.file());
    return files;
  }

  [[nodiscard]] Error missing_workers_error() const {
    const std::vector<std::int32_t> workers = missing();
    return Error::run({ProblemCode::kLost, "", workers.front()},
                      fmt::format("{} did not join within {:g} s (the coordinator listens at {}){}",
                                  numbered_workers(workers), gathering_.wait.count(),
                                  to_string(listener_.address()), rejected_peers_.in_words()));
  }

  Expected<void> check_joined_workers() {
    make_room();
    for (std::size_t w = 0; w < worker_set_.size(); ++w) {
      if (const auto end = children_.ended(w))
        return tl::make_unexpected(
            worker_set_.failed(w, ProblemCode::kLost, end->how + " before the run began"));
    }
    return {};
  }

  /// Frees the worker numbers of processes that joined and then left, so that other processes can
  /// take these numbers. Also frees the numbers of peers that sent a message before the run began,
  /// since no valid worker does this.
  void make_room() {
    worker_set_.serve_joined_workers();
    for (std::size_t w = 0; w < worker_set_.size(); ++w) {
      if (worker_set_[w].channel && (worker_set_[w].gone || !worker_set_[w].inbox.empty()))
        worker_set_[w] = {};
    }
  }

  Expected<void> meet(Reception::Event event) {
    if (event.state != State::kDone) {
      rejected_peers_.add(event);
      return {};
    }
    if (!is_compatible(event.peer.version)) {
      return tl::make_unexpected(Error::run(
          {ProblemCode::kIncompatible}, fmt::format("the worker at {} is Tutti {}, but this "
                                                    "coordinator is Tutti {}; use the same version",
                                                    event.host, event.peer.version, protocol())));
    }
    // A peer that is silent after the handshake must neither use much memory nor block other peers.
    const std::size_t room = worker_set_.size() + kMaxPendingPeers;
    if (pending_peers_.size() >= room) pending_peers_.erase(pending_peers_.begin());
    pending_peers_.push_back(
        {ControlChannel(std::move(event.connection), ControlChannel::kLongestIntroduction),
         event.peer, event.host, Clock::now() + std::chrono::seconds(10)});
    return {};
  }

  void read_introductions() {
    std::vector<PendingPeer> waiting;
    for (PendingPeer& guest : pending_peers_) {
      auto message = guest.channel.receive({});
      if (message && !*message && Clock::now() < guest.until) {
        waiting.push_back(std::move(guest));
      } else if (message && *message && (*message)->has_hello()) {
        take_in(guest, (*message)->hello());
      }
    }
    pending_peers_ = std::move(waiting);
  }

  /// Returns a free worker number for a worker that accepts any number; kAnyWorker if no number is
  /// free.
  [[nodiscard]] std::int64_t first_free() const {
    for (const std::int32_t free : missing()) {
      if (!spawned(free)) return free;
    }
    return kAnyWorker;
  }

  /// Returns true if a worker that joins from `from` may listen at `host`: at the same address; at
  /// another address of this machine, if the worker is on this machine; or in a network that the
  /// user has allowed. No worker can thus make other workers connect to any other address.
  [[nodiscard]] bool may_listen_at(const std::string& from, const std::string& host) const {
    const auto number = ipv4_number(host);
    if (!number) return false;
    const auto& networks = gathering_.worker_networks;
    return host == from || (is_own_address(from) && is_own_address(host)) ||
           std::any_of(networks.begin(), networks.end(),
                       [&](const Subnet& network) { return network.contains(*number); });
  }

  void take_in(PendingPeer& guest, const proto::Hello& hello) {
    const auto workers = static_cast<std::int64_t>(worker_set_.size());
    std::int64_t w = guest.who.joiner;
    const bool full = w == kAnyWorker ? first_free() == kAnyWorker
                                      : w >= 0 && w < workers && worker_set_[w].channel.has_value();
    // The previous worker with this number may have just left, and the new worker may be its
    // replacement.
    if (full) make_room();
    if (w == kAnyWorker) w = first_free();
    if (w == kAnyWorker)
      return refuse(guest.channel,
                    Error::request({ProblemCode::kConflict},
                                   "all workers of the scenario have already joined"));
    if (w < 0 || w >= workers) {
      return refuse(
          guest.channel,
          Error::request(
              {ProblemCode::kTooLarge, "--worker"},
              fmt::format("worker {} does not exist: the scenario has {} workers, numbered from 0",
                          w, workers)));
    }
    if (hello.ranks() > 0 && gathering_.ranks == 0) {
      return refuse(
          guest.channel,
          Error::request(
              {ProblemCode::kConflict},
              fmt::format(
                  "a launcher started this worker as one of {} processes, but no launcher started "
                  "the coordinator; start the coordinator as rank 0 of the same launch, or start "
                  "every worker with tutti worker --join HOST:PORT",
                  hello.ranks())));
    }
    if (hello.ranks() > 0 && hello.ranks() != gathering_.ranks) {
      return refuse(
          guest.channel,
          Error::request(
              {ProblemCode::kConflict},
              fmt::format(
                  "this worker belongs to a launch of {} processes, but the coordinator to a "
                  "launch of {}; start one process for each of the {} workers in a single launch",
                  hello.ranks(), gathering_.ranks, workers)));
    }
    if (!hello.address().host().empty() && !may_listen_at(guest.host, hello.address().host())) {
      return refuse(
          guest.channel,
          Error::request(
              {ProblemCode::kConflict, "--listen"},
              fmt::format("this worker joins from {}, so it may not let other workers connect to "
                          "{}; let the worker listen at the address from which it joins, or start "
                          "the coordinator with --worker-network {}/32",
                          guest.host, peer_text(hello.address().host(), kLongestHostName),
                          peer_text(hello.address().host(), kLongestHostName))));
    }
    if (hello.address().port() < 1 || hello.address().port() > 65'535)
      return refuse(guest.channel,
                    Error::run({ProblemCode::kProtocol},
                               fmt::format("sent the invalid port {}", hello.address().port())));
    Member& member = worker_set_[w];
    if (member.channel)
      return refuse(guest.channel, Error::request({ProblemCode::kDuplicate, "--worker"},
                                                  fmt::format("worker {} has already joined", w)));
    const std::string own_clock = clock_identity();
    member.address = {hello.address().host().empty() ? guest.host : hello.address().host(),
                      hello.address().port()};
    member.only_there = !hello.address().host().empty();
    member.host = peer_text(hello.host_name(), kLongestHostName);
    member.other_clock = own_clock.empty() || hello.clock() != own_clock;
    member.heard = Clock::now();
    member.channel.emplace(std::move(guest.channel));
    member.channel->take_messages_of(InboxLimit().bytes);
  }

  WorkerSet& worker_set_;
  Children& children_;
  const Gathering& gathering_;
  const Listener& listener_;
  Reception reception_;
  std::vector<PendingPeer> pending_peers_;
  RejectedPeers rejected_peers_;
};

}  // namespace

Expected<void> gather(WorkerSet& worker_set, Children& children, const Gathering& gathering,
                      const Listener& listener, const RunId& run) {
  return Gatherer(worker_set, children, gathering, listener, run).run();
}

void refuse_joiners(const Gathering& gathering, std::size_t others, const Listener& listener,
                    const Error& why) {
  RunId run;
  fill_random(run.data(), run.size());
  Reception reception(reception_options(gathering, run, others), &listener);
  std::vector<ControlChannel> notified;
  const auto until = Clock::now() + std::chrono::seconds(10);
  while (notified.size() < others && Clock::now() < until) {
    for (Reception::Event& event : reception.wait(Clock::now() + std::chrono::milliseconds(100))) {
      if (event.state != State::kDone) continue;
      notified.emplace_back(std::move(event.connection), ControlChannel::kLongestIntroduction);
      refuse(notified.back(), why);
    }
  }
  // Wait until the peers close their connections. If this process closed the connections first,
  // messages that it has just sent could be lost.
  for (ControlChannel& channel : notified) {
    while (Clock::now() < until) {
      const auto message = channel.receive(Clock::now() + std::chrono::milliseconds(200));
      if (!message || !*message) break;
    }
  }
}

}  // namespace tutti::real
