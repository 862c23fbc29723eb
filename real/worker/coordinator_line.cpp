#include "real/worker/coordinator_line.h"

#include <fmt/format.h>

#include "real/proto/run.pb.h"
#include "real/wire/failure.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::ProblemCode;
using proto::Control;

namespace {

Error gone(const std::string& text) { return Error::run({core::ProblemCode::kLost}, text); }
Error stopped(const std::string& text) { return Error::run({core::ProblemCode::kStopped}, text); }

}  // namespace

CoordinatorLine::CoordinatorLine(Connection connection, const WorkerJoin& join)
    : join_(join), channel_(std::move(connection), ControlChannel::kLongestAssignment) {}

void CoordinatorLine::begin_heartbeat(std::chrono::milliseconds interval) {
  heartbeat_.emplace(channel_, interval);
}

void CoordinatorLine::now_doing(std::string what) { heartbeat_->now_doing(std::move(what)); }

void CoordinatorLine::set_standstill(std::optional<Clock::time_point> since,
                                     const std::function<std::string()>& where) {
  if (since == still_since_) return;
  still_since_ = since;
  heartbeat_->set_standstill(since, since ? where() : "");
}

Expected<void> CoordinatorLine::send(const Control& message) {
  if (channel_.send(message)) return {};
  return tl::make_unexpected(gone("the coordinator has disconnected"));
}

// --- receiving ---

Expected<std::unique_ptr<Control>> CoordinatorLine::next(Clock::duration silence,
                                                         const std::function<void()>& meanwhile) {
  Clock::time_point until = Clock::now() + silence;
  // After a ping, only wait for the next ping for a short time, since a coordinator that compares
  // clocks sends several pings and needs immediate replies.
  Clock::time_point listens_until;
  for (std::uint64_t arrived = channel_.arrived();;) {
    if (auto stop = interrupted(); !stop) return tl::make_unexpected(stop.error());
    const bool listens = Clock::now() < listens_until;
    auto message =
        channel_.receive(Clock::now() + std::chrono::milliseconds(meanwhile && !listens ? 2 : 20));
    if (!message) return tl::make_unexpected(gone("the coordinator " + message.error().message()));
    if (*message) {
      until = Clock::now() + silence;
      if (!(*message)->has_ping()) return understood(std::move(*message));
      answer((*message)->ping());
      listens_until = Clock::now() + std::chrono::milliseconds(5);
      continue;
    }
    // A partly received assignment over a slow link also shows that the coordinator is alive.
    if (channel_.arrived() != arrived) until = Clock::now() + silence;
    arrived = channel_.arrived();
    if (Clock::now() > until) {
      return tl::make_unexpected(
          gone(fmt::format("the coordinator has not been heard from for {:.3g} s",
                           std::chrono::duration<double>(silence).count())));
    }
    if (meanwhile) meanwhile();
  }
}

void CoordinatorLine::answer(const proto::Ping& ping) {
  const std::int64_t received = join_.clock.shows(ControlChannel::now_ns());
  Control message;
  proto::Pong& pong = *message.mutable_pong();
  pong.set_sent_ns(ping.sent_ns());
  pong.set_received_ns(received);
  pong.set_answered_ns(join_.clock.shows(ControlChannel::now_ns()));
  static_cast<void>(channel_.send(message));
}

Expected<std::unique_ptr<Control>> CoordinatorLine::understood(std::unique_ptr<Control> message) {
  if (!message->has_failure()) return message;
  failure_reported_ = true;
  Error error = error_of(message->failure());
  if (error.kind() == core::ErrorKind::kRequest) return tl::make_unexpected(std::move(error));
  return tl::make_unexpected(Error::run(kind_of(error), "the run has failed: " + error.message()));
}

Expected<void> CoordinatorLine::look() {
  if (auto stop = interrupted(); !stop) return stop;
  auto message = channel_.receive({});
  if (!message) return tl::make_unexpected(gone("the coordinator " + message.error().message()));
  if (!*message) return {};
  if ((*message)->has_ping()) return answer((*message)->ping()), Expected<void>();
  auto received = understood(std::move(*message));
  if (!received) return tl::make_unexpected(received.error());
  if ((*received)->has_finish()) {
    failure_reported_ = true;
    return tl::make_unexpected(stopped("the run was stopped"));
  }
  return tl::make_unexpected(not_due("nothing"));
}

bool CoordinatorLine::still_wanted() {
  if (Clock::now() - looked_ < std::chrono::milliseconds(10)) return true;
  looked_ = Clock::now();
  const auto received = look();
  if (!received) stop_reason_ = received.error();
  return received.has_value();
}

Expected<void> CoordinatorLine::interrupted() const {
  if (!join_.interrupted || !join_.interrupted->load(std::memory_order_relaxed)) return {};
  return tl::make_unexpected(stopped("interrupted"));
}

Error not_due(const std::string& what) {
  return Error::run({ProblemCode::kProtocol},
                    "the coordinator sent an unexpected message where " + what + " was expected");
}

// --- the end ---

WorkerEnd CoordinatorLine::end(Expected<void> done) {
  bool reported = failure_reported_;
  if (!done && !reported) {
    Error error =
        Error::run(kind_of(done.error()), fmt::format("{} ({})", done.error().message(), doing()));
    reported = report(error);
    // Even if sending to the coordinator fails, this worker may not yet have read all messages that
    // the coordinator sent earlier.
    done = tl::make_unexpected(interrupted() ? verdict(std::move(error)) : std::move(error));
  }
  return {std::move(done), (reported || failure_reported_) && !gone_};
}

bool CoordinatorLine::report(const Error& error) {
  Control message;
  write_failure(error, *message.mutable_failure());
  return channel_.send(message).has_value();
}

Error CoordinatorLine::verdict(Error error) {
  const auto until = Clock::now() + std::chrono::seconds(3);
  while (Clock::now() < until) {
    auto message = channel_.receive(until);
    gone_ = !message;
    // The coordinator sends the reason before it closes the connection. This worker may have lost a
    // peer only because that peer noticed the failure first and left.
    if (!message && kind_of(error).worker >= 0)
      return gone(fmt::format("the coordinator has disconnected ({})", doing()));
    if (!message || !*message) break;
    if ((*message)->has_finish()) return stopped("the run was stopped");
    if ((*message)->has_failure()) return understood(std::move(*message)).error();
  }
  return error;
}

}  // namespace tutti::real
