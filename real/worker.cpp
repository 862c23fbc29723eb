#include "real/worker.h"

#include <unistd.h>

#include <array>
#include <cstring>
#include <thread>

#include <fmt/format.h>

#include "core/base/version.h"
#include "core/scenario/scenario.h"
#include "real/control.h"
#include "real/ground.h"
#include "real/proto/run.pb.h"
#include "real/transport/tcp.h"
#include "real/worker_run.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using Clock = ControlChannel::Clock;

namespace {

/// The first that goes over a connection between two workers. The secret keeps strangers out.
struct Greeting {
  std::array<char, 8> magic{'T', 'U', 'T', 'T', 'I', 'R', 'U', 'N'};
  std::int32_t worker = 0;
  std::uint32_t reserved = 0;
  std::array<char, 32> secret{};
};

Greeting greeting_of(const WorkerJoin& join) {
  Greeting greeting;
  greeting.worker = join.worker;
  std::memcpy(greeting.secret.data(), join.secret.data(), std::min(join.secret.size(), greeting.secret.size()));
  return greeting;
}

std::int64_t nanoseconds(Clock::time_point t) { return std::chrono::nanoseconds(t.time_since_epoch()).count(); }
std::int64_t nanoseconds(Clock::duration d) { return std::chrono::nanoseconds(d).count(); }

class Worker {
 public:
  Worker(const WorkerJoin& join, ControlChannel channel, Listener listener)
      : join_(join), channel_(std::move(channel)), listener_(std::move(listener)) {}

  Expected<void> work() {
    Expected<void> done = all_steps();
    if (!done) {
      proto::Control failure;
      failure.mutable_failure()->set_text(done.error().message());
      failure.mutable_failure()->set_wrong_result(wrong_result_);
      static_cast<void>(channel_.send(failure));
    }
    return done;
  }

 private:
  Expected<void> all_steps() {
    proto::Control hello;
    hello.mutable_hello()->set_version(std::string(core::version()));
    hello.mutable_hello()->set_secret(join_.secret);
    hello.mutable_hello()->set_worker(join_.worker);
    hello.mutable_hello()->set_port(listener_.port());
    if (auto sent = channel_.send(hello); !sent) return coordinator_gone();

    // The others may take their time to start.
    auto message = next_message(Clock::now() + std::chrono::minutes(2));
    if (!message) return tl::make_unexpected(message.error());
    if (!(*message)->has_assignment()) return unexpected("an assignment");
    const proto::Assignment assignment = (*message)->assignment();

    const core::Library library(assignment.library());
    auto scenario = core::read_scenario(assignment.scenario_text(), assignment.scenario_file(), library);
    if (!scenario) return tl::make_unexpected(scenario.error());
    scenario->run.steps = assignment.steps();
    scenario->run.seed = assignment.seed();

    auto sockets = meet_peers(assignment);
    if (!sockets) return tl::make_unexpected(sockets.error());
    std::vector<std::int32_t> worker_of;
    const core::Collective& first = scenario->plan.packs.front().collective;
    for (core::Rank r = 0; r < first.schedule->ranks(); ++r) worker_of.push_back(first.group.device(r).worker);
    TcpTransport transport(
        std::move(*sockets), std::move(worker_of),
        {std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds(assignment.spin_ns()))});
    WorkerOptions options;
    options.verify = assignment.verify();
    options.record_packs = assignment.record_packs();
    options.record_steps = assignment.record_steps();
    options.most_spans = assignment.most_spans();
    options.timeout = std::chrono::duration<double>(assignment.timeout_seconds());
    Ground ground(*scenario, assignment.time_scale(), transport);
    options.scale = ground.scale();
    options.replay_launch = assignment.time_scale() > 0;
    WorkerRun run(*scenario, join_.worker, ground.transport(), ground.devices(), ground.timers(), options);
    ground.transport().connect(run.receiver(), ground.devices());

    for (std::int32_t step = 0; step < assignment.steps(); ++step) {
      run.prepare(step);
      proto::Control ready;
      ready.mutable_ready();
      if (auto sent = channel_.send(ready); !sent) return coordinator_gone();
      auto go = wait_for_go(run);
      if (!go) return tl::make_unexpected(go.error());
      if (!*go) return {};  // told to finish
      const auto still_wanted = [this] { return coordinator_is_there(); };
      auto result = run.run(step, begin_, still_wanted);
      if (!result) return tl::make_unexpected(result.error());
      if (auto flushed = run.flush(); !flushed) return flushed;
      if (auto sent = send_result(step, *result, ground.punctuality()); !sent) return coordinator_gone();
      if (auto right = run.verify(step); !right) {
        wrong_result_ = true;
        return right;
      }
    }
    proto::Control ready;
    ready.mutable_ready();
    if (auto sent = channel_.send(ready); !sent) return coordinator_gone();
    auto finish = next_message(Clock::now() + std::chrono::minutes(10));
    if (!finish) return tl::make_unexpected(finish.error());
    return {};
  }

  static Expected<void> coordinator_gone() { return tl::make_unexpected(Error::run("the coordinator is gone")); }
  static Expected<void> unexpected(const std::string& what) {
    return tl::make_unexpected(Error::run("the coordinator sent something else where " + what + " was due"));
  }

  Expected<std::unique_ptr<proto::Control>> next_message(Clock::time_point until) {
    auto message = channel_.receive(until);
    if (!message) return tl::make_unexpected(Error::run("the coordinator " + message.error().message()));
    if (!*message) return tl::make_unexpected(Error::run("the coordinator says nothing"));
    return message;
  }

  /// During a step the coordinator says nothing, unless the run is to end.
  bool coordinator_is_there() {
    if (++looks_ % 64 != 0) return true;
    const auto message = channel_.receive(Clock::now());
    return message.has_value() && !*message;
  }

  /// True for a step to begin, false for the end.
  Expected<bool> wait_for_go(WorkerRun& run) {
    while (true) {
      auto message = channel_.receive(Clock::now() + std::chrono::milliseconds(2));
      if (!message) return tl::make_unexpected(Error::run("the coordinator " + message.error().message()));
      if (*message && (*message)->has_go()) {
        begin_ = Clock::time_point(std::chrono::nanoseconds((*message)->go().start_ns()));
        return true;
      }
      if (*message) return false;
      // A peer that has begun already is served; one that is gone is noticed by the coordinator.
      if (auto served = run.serve(Clock::now()); !served) return tl::make_unexpected(served.error());
    }
  }

  /// Sockets by worker: connects to those before, is connected to by those behind.
  Expected<std::vector<int>> meet_peers(const proto::Assignment& assignment) {
    std::vector<int> sockets(static_cast<std::size_t>(assignment.peer_size()), -1);
    const Clock::time_point until = Clock::now() + std::chrono::seconds(30);
    const Greeting own = greeting_of(join_);
    for (std::int32_t w = 0; w < join_.worker; ++w) {
      const auto socket = connect_to(assignment.peer(w).host(), assignment.peer(w).port());
      if (!socket) return tl::make_unexpected(Error::run(fmt::format("worker {}: {}", w, socket.error().message())));
      Greeting theirs;
      if (!write_exactly(*socket, &own, sizeof own, until) || !read_exactly(*socket, &theirs, sizeof theirs, until) ||
          theirs.magic != own.magic || theirs.secret != own.secret || theirs.worker != w) {
        return tl::make_unexpected(Error::run(fmt::format("whoever listens at the port of worker {} is not it", w)));
      }
      sockets[static_cast<std::size_t>(w)] = *socket;
    }
    for (auto missing = assignment.peer_size() - join_.worker - 1; missing > 0;) {
      const auto socket = listener_.accept(until);
      if (!socket) return tl::make_unexpected(Error::run(fmt::format("{} of the other workers never came", missing)));
      Greeting theirs;
      const bool greeted = read_exactly(*socket, &theirs, sizeof theirs, Clock::now() + std::chrono::seconds(5));
      const bool known = greeted && theirs.magic == own.magic && theirs.secret == own.secret &&
                         theirs.worker > join_.worker && theirs.worker < assignment.peer_size() &&
                         sockets[static_cast<std::size_t>(theirs.worker)] < 0;
      if (!known || !write_exactly(*socket, &own, sizeof own, until)) {
        ::close(*socket);  // a stranger
        continue;
      }
      sockets[static_cast<std::size_t>(theirs.worker)] = *socket;
      --missing;
    }
    return sockets;
  }

  Expected<void> send_result(std::int32_t step, const WorkerStep& result,
                             const EmulatedNetwork::Punctuality& punctuality) {
    proto::Control control;
    proto::StepResult& message = *control.mutable_step();
    message.set_step(step);
    for (const ReplicaStep& replica : result.replicas) {
      proto::ReplicaStep& r = *message.add_replica();
      r.set_device(replica.device);
      r.set_start_ns(nanoseconds(replica.start));
      r.set_end_ns(nanoseconds(replica.end));
      r.set_forward_ns(nanoseconds(replica.forward));
      r.set_backward_ns(nanoseconds(replica.backward));
      r.set_other_ns(nanoseconds(replica.other));
      r.set_communication_ns(nanoseconds(replica.communication));
    }
    for (const PackStep& pack : result.packs) {
      proto::PackStep& p = *message.add_pack();
      p.set_pack(pack.pack);
      p.set_ready_ns(nanoseconds(pack.ready));
      p.set_first_start_ns(nanoseconds(pack.first_start));
      p.set_last_start_ns(nanoseconds(pack.last_start));
      p.set_end_ns(nanoseconds(pack.end));
    }
    for (const RecordedSpans& row : result.recorded) {
      proto::TrackInfo& track = *message.add_track();
      track.set_kind(static_cast<int>(row.track.kind));
      track.set_worker(row.track.worker);
      track.set_device(row.track.device);
      track.set_slot(row.track.slot);
      track.set_lane(row.track.lane);
      proto::SpanColumns& columns = *message.add_spans();
      for (const core::Span& span : row.spans) {
        columns.add_start_ps(span.start.count());
        columns.add_duration_ps(span.duration.count());
        columns.add_wait_ps(span.wait.count());
        columns.add_kind(span.kind);
        columns.add_step(span.step);
        columns.add_pack(span.pack);
        columns.add_index(span.index);
        columns.add_bytes(span.bytes.count());
      }
    }
    message.set_spans_left_out(result.spans_left_out);
    message.set_messages(punctuality.messages);
    message.set_late_messages(punctuality.late);
    message.set_latest_ns(nanoseconds(punctuality.latest));
    return channel_.send(control);
  }

  const WorkerJoin& join_;
  ControlChannel channel_;
  Listener listener_;
  Clock::time_point begin_;  ///< of the step at hand
  std::int64_t looks_ = 0;
  bool wrong_result_ = false;
};

}  // namespace

Expected<void> work(const WorkerJoin& join) {
  auto listener = Listener::open();
  if (!listener) return tl::make_unexpected(listener.error());
  const auto socket = connect_to(join.host, join.port);
  if (!socket) return tl::make_unexpected(socket.error());
  return Worker(join, ControlChannel(*socket), std::move(*listener)).work();
}

}  // namespace tutti::real
