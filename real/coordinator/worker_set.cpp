// Receives the messages of all workers in one thread, and finds the cause when a run fails. The
// first report is seldom the cause: when one worker dies, its peers complain about each other,
// often before its exit is visible. Reports are therefore collected for another second. The search
// follows the reports from each worker to the worker that it blames. The search ends at a worker
// that has vanished, or that reports a problem of its own. A process that has ended, a wrong result
// and an exceeded limit are certain causes and end the search.
//
// A worker that sends nothing is lost. If all workers wait, and no worker has work that is due, a
// message was lost. A worker that sends many messages cannot delay other workers, because messages
// are taken from the workers in turn, and the number of unread messages is limited.

#include "real/coordinator/worker_set.h"

#include <poll.h>

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "real/proto/run.pb.h"
#include "real/wire/failure.h"
#include "real/wire/peer_text.h"
#include "real/worker/patience.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::ProblemCode;
using proto::Control;

namespace {

constexpr int kPingsAtATime = 8;
/// The maximum length in bytes of a message about a step. The limits of a frame and of Protocol
/// Buffers are much higher.
constexpr std::size_t kLongestStep = std::size_t{1} << 30;
/// The maximum number of messages that are taken from one worker before other workers are served.
constexpr int kMaxPerTurn = 64;
/// Upper limit of the waiting time that a worker reports.
constexpr std::chrono::hours kLongestStill{24 * 365};

/// True if the worker reports only that it waited for another worker until its timeout. (The cause
/// of the failure is then in the report of another worker.)
bool only_waited(const Error& report) {
  return kind_of(report).code == ProblemCode::kTimeout && kind_of(report).worker < 0;
}

void leaves(Member& member, const Error& why) {
  member.gone = true;
  member.farewell = why.message();
  member.gone_because = kind_of(why).code;
}

double seconds(WorkerSet::Clock::duration d) { return std::chrono::duration<double>(d).count(); }

}  // namespace

WorkerSet::WorkerSet(std::size_t workers, Children& children, const core::RunControl& control,
                     Clock::duration timeout, Clock::duration drain_timeout)
    : members_(workers),
      children_(children),
      control_(control),
      timeout_(timeout),
      drain_timeout_(drain_timeout) {}

WorkerSet::~WorkerSet() = default;

std::string WorkerSet::name(std::size_t worker) const {
  const std::string& host = members_[worker].host;
  return several_machines() && !host.empty() ? fmt::format("worker {} ({})", worker, host)
                                             : fmt::format("worker {}", worker);
}

bool WorkerSet::several_machines() const {
  return std::any_of(members_.begin(), members_.end(),
                     [](const Member& m) { return m.other_clock; });
}

void WorkerSet::limit_inboxes(const InboxLimit& limit) {
  limit_ = limit;
  for (Member& member : members_) {
    if (member.channel) member.channel->take_messages_of(std::min(limit.bytes, kLongestStep));
  }
}

Error WorkerSet::failed(std::size_t worker, ProblemCode code, const std::string& what) const {
  return Error::run({code, "", static_cast<std::int32_t>(worker)},
                    fmt::format("{} {}", name(worker), what));
}

Error WorkerSet::reported_by(std::size_t worker, const Error& report) const {
  return failed(worker, kind_of(report).code, "reports: " + report.message());
}

bool WorkerSet::cancelled() {
  // The user may cancel from within the progress callback.
  if (control_.progress && Clock::now() - reported_progress_ > std::chrono::milliseconds(100)) {
    reported_progress_ = Clock::now();
    control_.progress(share_);
  }
  if (control_.cancel && control_.cancel->load(std::memory_order_relaxed)) stopped_ = true;
  return stopped_;
}

// --- messages ---

Expected<void> WorkerSet::send(std::size_t worker, const Control& message) {
  if (members_[worker].channel && members_[worker].channel->send(message)) return {};
  members_[worker].gone = true;
  return tl::make_unexpected(find_cause());
}

void WorkerSet::wait(Clock::time_point until) {
  std::vector<pollfd> files;
  for (const Member& member : members_) {
    if (member.channel && !member.gone) files.push_back({member.channel->file(), POLLIN, 0});
  }
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
  ::poll(files.data(), files.size(), static_cast<int>(std::clamp<long>(left, 0, 60'000)));
}

/// Takes messages from all workers, but only a bounded number from each. Even if one worker sends
/// many messages, other workers, timeouts and Ctrl-C are served in time.
void WorkerSet::read_arrived() {
  for (Member& member : members_) {
    for (int taken = 0; taken < kMaxPerTurn && member.channel && !member.gone; ++taken) {
      auto message = member.channel->receive({});
      if (!message) {
        leaves(member, message.error());
        break;
      }
      if (!*message) break;
      take(member, std::move(*message));
    }
    // The worker is also alive if a part of a message has arrived, for example over a slow link.
    if (member.channel && member.arrived != member.channel->arrived()) {
      member.arrived = member.channel->arrived();
      member.heard = Clock::now();
    }
  }
}

void WorkerSet::take(Member& member, std::unique_ptr<Control> message) {
  member.heard = Clock::now();
  if (message->has_alive()) {
    member.doing = peer_text(message->alive().doing(), kLongestActivity);
    member.still = std::clamp<Clock::duration>(
        std::chrono::nanoseconds(message->alive().still_ns()), {}, kLongestStill);
    member.stands = peer_text(message->alive().stands(), kLongestStandstill);
  } else if (message->has_pong()) {
    const proto::Pong& pong = message->pong();
    if (member.other_clock)
      member.clock.add(
          {pong.sent_ns(), pong.received_ns(), pong.answered_ns(), ControlChannel::now_ns()});
  } else {
    const std::size_t bytes = member.channel->last_size();
    member.inbox_bytes += bytes;
    member.inbox.push_back({std::move(message), bytes});
    if (member.inbox.size() <= limit_.messages && member.inbox_bytes <= limit_.bytes) return;
    member.gone = member.exceeds = true;
    member.farewell = fmt::format("sent {} unexpected messages ({} bytes in total)",
                                  member.inbox.size(), member.inbox_bytes);
    member.inbox.clear();
    member.inbox_bytes = 0;
  }
}

void WorkerSet::send_heartbeats(bool everyone) {
  if (Clock::now() - last_heartbeat_ < std::chrono::seconds(1)) return;
  last_heartbeat_ = Clock::now();
  for (Member& member : members_) {
    if (!member.channel || member.gone || (!everyone && member.inbox.empty())) continue;
    Control ping;
    ping.mutable_ping()->set_sent_ns(ControlChannel::now_ns());
    if (!member.channel->send(ping)) member.gone = true;
  }
}

Expected<WorkerSet::Messages> WorkerSet::receive_from_all(int wanted, const std::string& due) {
  const auto now = Clock::now();
  for (Member& member : members_) member.heard = std::max(member.heard, now);
  while (true) {
    read_arrived();
    if (cancelled()) return tl::make_unexpected(Error::run({ProblemCode::kStopped}, "stopped"));
    if (const auto error = check_failures(due)) return tl::make_unexpected(*error);
    for (std::size_t w = 0; w < size(); ++w) {
      if (!members_[w].inbox.empty() &&
          static_cast<int>(members_[w].inbox.front().message->content_case()) != wanted)
        return tl::make_unexpected(
            failed(w, ProblemCode::kProtocol, due + " and sent an unexpected message"));
    }
    const bool all = std::all_of(members_.begin(), members_.end(),
                                 [](const Member& m) { return !m.inbox.empty(); });
    if (all) break;
    send_heartbeats(false);  // workers that have delivered wait for the others
    wait(Clock::now() + std::chrono::milliseconds(20));
  }
  return first_of_all();
}

std::optional<WorkerSet::Messages> WorkerSet::try_receive_from_all(int wanted) {
  for (const Member& member : members_) {
    if (member.inbox.empty() ||
        static_cast<int>(member.inbox.front().message->content_case()) != wanted)
      return std::nullopt;
  }
  return first_of_all();
}

/// Returns the first message of every worker. REQUIRES: everyone has sent a message.
WorkerSet::Messages WorkerSet::first_of_all() {
  Messages messages;
  for (Member& member : members_) {
    messages.push_back(std::move(member.inbox.front().message));
    member.inbox_bytes -= member.inbox.front().bytes;
    member.inbox.pop_front();
  }
  return messages;
}

void WorkerSet::serve_joined_workers() {
  read_arrived();
  send_heartbeats(true);
}

Expected<void> WorkerSet::align_clocks() {
  if (!several_machines()) return {};
  for (int round = 0; round < kPingsAtATime; ++round) {
    for (std::size_t w = 0; w < size(); ++w) {
      if (!members_[w].other_clock) continue;
      if (cancelled()) return tl::make_unexpected(Error::run({ProblemCode::kStopped}, "stopped"));
      Control ping;
      ping.mutable_ping()->set_sent_ns(ControlChannel::now_ns());
      if (auto sent = send(w, ping); !sent) return sent;
      // Read the reply to each ping before the next ping, since a reply that waits to be read would
      // seem late.
      if (!take_answer(w, ping.ping().sent_ns())) return tl::make_unexpected(find_cause());
    }
  }
  return {};
}

/// Waits for a short time for the reply to the ping that was sent at `sent_ns`. Returns false if
/// the worker is gone.
bool WorkerSet::take_answer(std::size_t worker, std::int64_t sent_ns) {
  Member& member = members_[worker];
  const auto until = Clock::now() + std::chrono::milliseconds(100);
  while (true) {
    auto message = member.channel->receive(until);
    if (!message) {
      leaves(member, message.error());
      return false;
    }
    if (!*message) return true;
    const bool answer = (*message)->has_pong() && (*message)->pong().sent_ns() == sent_ns;
    take(member, std::move(*message));
    if (member.gone) return false;
    if (answer || Clock::now() >= until) return true;
  }
}

// --- failures ---

std::optional<Error> WorkerSet::failure_of(std::size_t worker) const {
  for (const auto& [message, bytes] : members_[worker].inbox) {
    if (message->has_failure()) return error_of(message->failure());
  }
  return std::nullopt;
}

std::optional<std::size_t> WorkerSet::silent(Clock::duration longer_than) const {
  std::optional<std::size_t> longest;
  const auto now = Clock::now();
  for (std::size_t w = 0; w < size(); ++w) {
    if (!members_[w].channel || now - members_[w].heard < longer_than) continue;
    if (!longest || members_[w].heard < members_[*longest].heard) longest = w;
  }
  return longest;
}

std::optional<Error> WorkerSet::check_failures(const std::string& due) {
  for (std::size_t w = 0; w < size(); ++w) {
    if (failure_of(w) || members_[w].gone || children_.ended(w)) return find_cause();
  }
  if (const auto w = silent(longest_silence(timeout_))) {
    return failed(
        *w, ProblemCode::kLost,
        fmt::format("{} and has not been heard from for {:.3g} s (last reported activity: {})", due,
                    seconds(Clock::now() - members_[*w].heard), members_[*w].doing));
  }
  return standstill();
}

/// Returns an error if a message is lost: all workers wait, no worker has work that is due, and at
/// least one worker waits for another worker. (If links are emulated, the worker that emulates a
/// message's link has work that is due.)
std::optional<Error> WorkerSet::standstill() const {
  std::optional<std::size_t> waiting;
  for (std::size_t w = 0; w < size(); ++w) {
    const Member& member = members_[w];
    if (!member.channel || member.still < timeout_) return std::nullopt;
    if (!waiting && !member.stands.empty()) waiting = w;
  }
  if (!waiting) return std::nullopt;  // all of them wait for the coordinator
  return failed(
      *waiting, ProblemCode::kTimeout,
      fmt::format(
          "reports: no progress for {:.3g} s, and no worker has work that can end the wait: {}",
          seconds(members_[*waiting].still), members_[*waiting].stands));
}

Error WorkerSet::find_cause() {
  const Clock::time_point until = Clock::now() + drain_timeout_;
  while (true) {
    read_arrived();
    // A user who cancels the run may also have stopped its workers.
    if (cancelled()) return Error::run({ProblemCode::kStopped}, "stopped");
    const bool drain_over = Clock::now() >= until;
    if (auto cause = known_cause(drain_over)) return *cause;
    ::poll(nullptr, 0, 10);
  }
}

std::optional<Error> WorkerSet::known_cause(bool drain_over) {
  std::optional<std::size_t> first;
  bool first_waited = false;
  for (std::size_t w = 0; w < size(); ++w) {
    if (members_[w].exceeds) return failed(w, ProblemCode::kProtocol, members_[w].farewell);
    if (const auto end = children_.ended(w); end && !end->reported_failure)
      return failed(w, ProblemCode::kLost, fmt::format("{} ({})", end->how, members_[w].doing));
    const std::optional<Error> report = failure_of(w);
    if (report && kind_of(*report).code == ProblemCode::kWrongResult)
      return reported_by(w, *report);
    const bool waited = report && only_waited(*report);
    if (report && (!first || (first_waited && !waited))) {
      first = w;
      first_waited = waited;
    }
  }
  // Follow the reports: each report names the worker that it blames.
  std::string because;
  std::size_t culprit = first.value_or(0);
  for (std::size_t i = 0; first && i < size(); ++i) {
    const Error report = *failure_of(culprit);
    const std::int32_t worker = kind_of(report).worker;
    const std::size_t blamed = worker;
    if (worker < 0 || blamed >= size() || blamed == culprit) break;
    const std::optional<Error> blamed_failure = failure_of(blamed);
    if (!blamed_failure) {
      if (members_[blamed].gone)
        because = fmt::format("; {} reports: {}", name(culprit), report.message());
      // A process closes its connections before its exit status is available.
      if (members_[blamed].gone && !drain_over && children_.started(blamed)) return std::nullopt;
      if (members_[blamed].gone)
        return failed(blamed, ProblemCode::kLost,
                      fmt::format("has disconnected ({}){}", members_[blamed].doing, because));
      if (!drain_over) return std::nullopt;
      break;
    }
    // The blamed worker was only waiting, so the report that blames this worker is the best known
    // cause.
    if (only_waited(*blamed_failure)) return reported_by(culprit, report);
    culprit = blamed;
  }
  if (first) {
    const Error report = *failure_of(culprit);
    // A worker that reports a timeout has waited for another worker, which has been silent for the
    // same time.
    if (const auto w = silent(timeout_ * 3 / 5); w && *w != culprit) {
      return failed(
          *w, ProblemCode::kLost,
          fmt::format(
              "has not been heard from for {:.3g} s (last reported activity: {}); {} reports: {}",
              seconds(Clock::now() - members_[*w].heard), members_[*w].doing, name(culprit),
              report.message()));
    }
    if (!drain_over && kind_of(report).worker >= 0) return std::nullopt;
    return reported_by(culprit, report);
  }
  if (!drain_over) return std::nullopt;
  for (std::size_t w = 0; w < size(); ++w) {
    if (const auto end = children_.ended(w))
      return failed(w, ProblemCode::kLost, fmt::format("{} ({})", end->how, members_[w].doing));
    if (members_[w].gone) {
      return failed(
          w, members_[w].gone_because,
          fmt::format("{} ({})",
                      members_[w].farewell.empty() ? "has disconnected" : members_[w].farewell,
                      members_[w].doing));
    }
  }
  return Error::run("a worker failed");
}

void WorkerSet::dismiss(const Error* why, bool come_again) {
  Control message;
  if (why) {
    write_failure(*why, *message.mutable_failure());
  } else {
    message.mutable_finish();
  }
  for (std::size_t w = 0; w < members_.size(); ++w) {
    Member& member = members_[w];
    if (!member.channel || member.gone) continue;
    if (!why) message.mutable_finish()->set_come_again(come_again && !children_.started(w));
    if (!member.channel->send(message)) member.gone = true;
    member.channel->end_sending();
  }
  // Closing the connections immediately could discard the last messages. Therefore wait until the
  // workers have read the messages and closed the connections.
  const Clock::time_point until = Clock::now() + drain_timeout_;
  const auto someone = [this] {
    return std::any_of(members_.begin(), members_.end(),
                       [](const Member& m) { return m.channel && !m.gone; });
  };
  while (someone() && Clock::now() < until) {
    read_arrived();
    if (someone()) wait(std::min(until, Clock::now() + std::chrono::milliseconds(50)));
  }
  for (Member& member : members_) member.channel.reset();
}

}  // namespace tutti::real
