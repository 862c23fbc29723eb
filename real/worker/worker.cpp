// A worker joins a run, receives the plan, checks the memory, and connects to the other workers.
// After that, the worker prepares, runs, reports and verifies batches of training steps until the
// coordinator ends the run. The order is deliberate. The listener for peers is open before the
// worker joins, because the coordinator sends the listener's address to the peers. Memory is
// checked before any process has buffers. While a worker waits for the coordinator, it serves peers
// that have already begun.
//
// The coordinator sees all workers, so it detects a run without progress. A worker's own time limit
// is ten times as long as the coordinator's. If lane steps are recorded and the run is not
// emulated, reports are delayed by up to half a second, so that they disturb the steps less. Steps
// are executed in worker_run.cpp, benchmarks in perf_loop.cpp, and the connection to the
// coordinator is in coordinator_line.cpp.

#include "real/worker/worker.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/scenario/scenario.h"
#include "real/process/system_limits.h"
#include "real/proto/run.pb.h"
#include "real/worker/coordinator_line.h"
#include "real/worker/environment.h"
#include "real/worker/machine.h"
#include "real/worker/patience.h"
#include "real/worker/perf_loop.h"
#include "real/worker/step_message.h"
#include "real/worker/worker_run.h"
#include "real/worker/worker_setup.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using proto::Control;
using Clock = CoordinatorLine::Clock;

namespace {

/// The maximum delay of reports about ended steps, so that the coordinator can record the steps in
/// time.
constexpr std::chrono::milliseconds kMaxReportDelay{500};

std::chrono::milliseconds heartbeat_interval(double timeout_seconds) {
  return std::chrono::milliseconds(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(timeout_seconds * 200), 20, 1000));
}

/// Executes one run on a worker, phase by phase.
class Worker {
 public:
  Worker(const WorkerJoin& join, CoordinatorFound found, Listener listener)
      : join_(join),
        line_(std::move(found.connection), join),
        found_(std::move(found)),
        listener_(std::move(listener)) {}

  WorkerEnd work() {
    Expected<void> done = steps_in_memory();
    return line_.end(std::move(done));
  }

  /// After work() has returned: true if the coordinator expects this worker in another run.
  [[nodiscard]] bool wanted_again() const { return wanted_again_; }
  [[nodiscard]] const Appointment& appointment() const { return found_.appointment; }
  [[nodiscard]] std::int32_t number() const { return worker_; }

 private:
  Expected<void> steps_in_memory() {
    try {
      return all_steps();
    } catch (const std::bad_alloc&) {
      run_.reset();
      return tl::make_unexpected(
          Error::run({core::ProblemCode::kOutOfMemory},
                     "out of memory: every replica of this worker needs memory for all gradients "
                     "of the model, and for partial sums of its collectives" +
                         remedy_for(ENOMEM)));
    } catch (const std::system_error& error) {
      run_.reset();
      return tl::make_unexpected(
          Error::run({core::ProblemCode::kSystem},
                     fmt::format("cannot start a thread: {}{}", error.code().message(),
                                 remedy_for(error.code().value()))));
    }
  }

  Expected<void> all_steps() {
    auto assignment = join();
    if (!assignment) return tl::make_unexpected(assignment.error());
    const proto::Assignment& order = **assignment;
    const auto timeout = timeout_of(order);
    if (!timeout) return tl::make_unexpected(timeout.error());
    patience_ = std::chrono::duration_cast<Clock::duration>(*timeout);
    worker_ = order.worker();
    line_.begin_heartbeat(heartbeat_interval(order.timeout_seconds()));
    now_doing("reading the plan");
    scenario_ = read_plan(order, found_.version);
    if (!*scenario_) return tl::make_unexpected(scenario_->error());
    if (auto sane = check_assignment(order, **scenario_); !sane) return sane;
    // Check the memory before workers connect to each other, because until then no process on this
    // machine allocates buffers.
    if (auto fits = check_memory(**scenario_, need_of(order, **scenario_), order.workers_here(),
                                 join_.free_memory);
        !fits)
      return fits;
    now_doing("connecting to the other workers");
    auto connections = connect_workers(order, found_, *listener_, join_.tls, line_);
    if (!connections) return tl::make_unexpected(connections.error());
    listener_.reset();  // no other worker will connect
    now_doing("allocating its buffers");
    auto opened = open_transport(order, **scenario_, std::move(*connections), line_);
    if (!opened) return tl::make_unexpected(opened.error());
    transport_ = std::move(*opened);
    if (order.has_loop()) return loop(order);
    if (auto made = make_run(order); !made) return made;
    const std::int32_t batch = order.batch();
    for (std::int32_t first = 0; first < order.steps(); first += batch) {
      const std::int32_t count = std::min(batch, order.steps() - first);
      const std::int32_t last = first + count - 1;
      steps_ =
          count == 1 ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, last);
      now_doing("getting ready for " + steps_);
      run_->prepare(first, count);
      auto go = wait_for_go(first, [this] { serve(); });
      if (!go) return tl::make_unexpected(go.error());
      if (!*go) return {};  // the coordinator ends the run
      if (auto ran = run_batch(); !ran) return ran;
    }
    notes_ = [this] { return run_->final_notes(); };
    auto more = wait_for_go(order.steps(), [this] { serve(); });
    if (!more) return tl::make_unexpected(more.error());
    return {};
  }

  void now_doing(std::string what) { line_.now_doing(std::move(what)); }

  Expected<std::unique_ptr<proto::Assignment>> join() {
    Control message;
    proto::Hello& hello = *message.mutable_hello();
    const Address& at = listener_->address();
    // The address in digits, so that no other process has to resolve a name from the network.
    const std::string host = own_host(listener_->file());
    if (!is_every_address(host)) hello.mutable_address()->set_host(host);
    hello.mutable_address()->set_port(at.port);
    hello.set_ranks(join_.ranks);
    hello.set_clock(join_.clock.identity.empty() ? clock_identity() : join_.clock.identity);
    hello.set_host_name(host_name());
    if (auto sent = line_.send(message); !sent) return tl::make_unexpected(sent.error());
    // Other workers may need more time. Heartbeats show that the coordinator is alive.
    auto assigned = line_.next(std::chrono::seconds(60), {});
    if (!assigned) return tl::make_unexpected(assigned.error());
    if (!(*assigned)->has_assignment()) return tl::make_unexpected(not_due("an assignment"));
    return std::unique_ptr<proto::Assignment>((*assigned)->release_assignment());
  }

  Expected<void> make_run(const proto::Assignment& order) {
    const core::Scenario& scenario = **scenario_;
    WorkerOptions options = options_of(order);
    records_steps_ = order.record_steps();
    records_reads_ = order.verify();
    const auto backend = backend_of(order);
    if (!backend) return tl::make_unexpected(backend.error());
    auto devices = make_devices(*backend, scenario);
    if (!devices) return tl::make_unexpected(devices.error());
    environment_.emplace(scenario, order.time_scale(), *transport_, std::move(*devices));
    const auto collectives = collectives_for(*backend, scenario, environment_->transport(),
                                             environment_->devices(), line_);
    if (!collectives) return tl::make_unexpected(collectives.error());
    options.scale = environment_->scale();
    // The coordinator sees all workers, and ends the run when no worker has made progress for the
    // timeout. A worker sees only itself. A worker may wait for two other workers that make
    // progress slowly, over a slow link or because of the emulation. The worker's own limit handles
    // a case that the coordinator cannot detect, in which a worker makes no progress but its
    // heartbeat continues.
    constexpr double kTimesLonger = 10;
    const double slowed = environment_->emulates() ? std::max(1.0, order.time_scale()) : 1.0;
    options.timeout = std::min<std::chrono::duration<double>>(
        options.timeout * kTimesLonger * slowed, kLongestHere);
    options.replay_launch = order.time_scale() > 0;
    options.busy = order.busy();
    run_.emplace(scenario, worker_, environment_->transport(), environment_->devices(),
                 environment_->timers(), options, *collectives);
    environment_->transport().connect(run_->receiver(), environment_->devices());
    notes_ = [this] { return run_->notes(); };
    return {};
  }

  /// Executes a benchmark: one step that holds all iterations.
  Expected<void> loop(const proto::Assignment& order) {
    const auto backend = backend_of(order);
    if (!backend) return tl::make_unexpected(backend.error());
    const auto devices = make_devices(*backend, **scenario_);
    if (!devices) return tl::make_unexpected(devices.error());
    const auto collectives = collectives_for(*backend, **scenario_, *transport_, **devices, line_);
    if (!collectives) return tl::make_unexpected(collectives.error());
    PerfLoop loop(**scenario_, worker_, *transport_, **devices, options_of(order),
                  {order.loop().iterations(), order.loop().warm_up()}, *collectives);
    transport_->connect(loop.receiver(), **devices);
    // notes_ refers to `loop`, so it must not be called after this function has returned.
    notes_ = [&loop] { return loop.notes(); };
    const auto serve = [&] {
      static_cast<void>(loop.serve(Clock::now() + std::chrono::milliseconds(2)));
    };
    auto go = wait_for_go(0, serve);
    if (!go) return tl::make_unexpected(go.error());
    if (!*go) return {};
    now_doing("repeating its collective");
    auto result = loop.run([this] { return line_.still_wanted(); });
    if (!result) return tl::make_unexpected(line_.stopped_or(result.error()));
    if (auto flushed = loop.flush(); !flushed) return flushed;
    Control message;
    write_step(
        *result, [this](std::int64_t ns) { return join_.clock.shows(ns); },
        *message.mutable_step());
    if (auto sent = line_.send(message); !sent) return tl::make_unexpected(sent.error());
    auto more = wait_for_go(order.steps(), serve);
    if (!more) return tl::make_unexpected(more.error());
    return {};
  }

  // --- steps ---

  Expected<void> run_batch() {
    now_doing("in " + steps_);
    // Long lists of spans would delay the running steps, so short steps are reported together.
    // Reports do not disturb an emulation.
    const bool at_once = environment_->emulates() || !records_steps_;
    Clock::time_point reported_at = Clock::now();
    const auto report_now_and_then = [&] {
      if (!at_once && Clock::now() - reported_at < kMaxReportDelay) return true;
      reported_at = Clock::now();
      return report_steps();
    };
    auto ran = run_->run(begin_, [&] {
      // A worker may wait for another worker's slow links, so only all workers together can detect
      // a loss.
      line_.set_standstill(run_->still_since(), [&] { return run_->progress_text(); });
      return report_now_and_then() && line_.still_wanted();
    });
    line_.set_standstill(std::nullopt, {});
    const bool reported = report_steps();
    if (!ran) return tl::make_unexpected(line_.stopped_or(ran.error()));
    if (!reported)
      return tl::make_unexpected(
          Error::run({core::ProblemCode::kLost}, "the coordinator has disconnected"));
    if (auto flushed = run_->flush(); !flushed) return flushed;
    now_doing("verifying the results of " + steps_);
    auto right = run_->verify();
    if (records_reads_) reads_ = run_->take_reads();
    return right;
  }

  /// Reports the steps that have ended on this worker. Returns false if the coordinator is gone.
  bool report_steps() {
    for (const WorkerStep& step : run_->take_steps()) {
      Control message;
      write_step(
          step, [this](std::int64_t ns) { return join_.clock.shows(ns); }, *message.mutable_step());
      const EmulatedNetwork::LateMessages late_messages = environment_->late_messages();
      message.mutable_step()->set_messages(late_messages.messages);
      message.mutable_step()->set_late_messages(late_messages.late);
      message.mutable_step()->set_latest_ns(std::chrono::nanoseconds(late_messages.latest).count());
      if (!line_.send(message)) return false;
    }
    return true;
  }

  /// Reports the reads of the previous batch.
  void report_reads(proto::Ready& ready) {
    for (const ReadSeen& seen : std::exchange(reads_, {})) {
      proto::ReadSeen& read = *ready.add_read();
      read.set_step(seen.step);
      read.set_pack(seen.pack);
      read.set_worker(static_cast<std::int32_t>(seen.group));
      read.set_hash(seen.hash);
      read.set_sent(seen.sent);
    }
    const core::UpdatesBehind behind = run_->take_behind();
    ready.set_updates(behind.updates);
    ready.set_behind(behind.sum);
    ready.set_most_behind(behind.most);
  }

  void serve() { static_cast<void>(run_->serve(Clock::now() + std::chrono::milliseconds(2))); }

  /// Reports to the coordinator that this worker is ready for step `next`, or that all steps have
  /// ended. Then waits for the coordinator's answer. Returns true if the step begins, and sets
  /// begin_ to its start; returns false if the run is over.
  Expected<bool> wait_for_go(std::int32_t next, const std::function<void()>& serve) {
    Control ready;
    ready.mutable_ready();
    for (const std::string& note : notes_()) {
      if (noted_.insert(note).second) ready.mutable_ready()->add_note(note);
    }
    if (run_) report_reads(*ready.mutable_ready());
    if (auto sent = line_.send(ready); !sent) return tl::make_unexpected(sent.error());
    now_doing("waiting for other workers");
    // Serve peers that have already begun the step. The coordinator detects lost peers.
    line_.set_standstill(Clock::now(), [] { return std::string(); });
    auto message = line_.next(longest_silence(patience_), serve);
    line_.set_standstill(std::nullopt, {});
    if (!message) return tl::make_unexpected(message.error());
    if ((*message)->has_finish()) {
      wanted_again_ = (*message)->finish().come_again();
      return false;
    }
    if (!(*message)->has_go() || !is_due((*message)->go(), next))
      return tl::make_unexpected(not_due("the next step"));
    const Clock::time_point start{
        std::chrono::nanoseconds(join_.clock.when((*message)->go().start_ns()))};
    begin_ = std::clamp(start, Clock::now() - patience_, Clock::now() + patience_);
    return true;
  }

  const WorkerJoin& join_;
  CoordinatorLine line_;
  CoordinatorFound found_;
  std::optional<Listener> listener_;  ///< open until workers are connected to each other
  std::int32_t worker_ = 0;
  Clock::duration patience_{};
  std::optional<Expected<core::Scenario>> scenario_;
  std::unique_ptr<Transport> transport_;
  std::optional<Environment> environment_;
  std::optional<WorkerRun> run_;
  bool records_steps_ = false;
  bool records_reads_ = false;  ///< true: reads of variables are recorded, to be compared with the
                                ///< values that servers sent
  std::vector<ReadSeen> reads_;
  std::string steps_;        ///< the steps of the current batch, as text for messages
  Clock::time_point begin_;  ///< begin of the current step
  bool wanted_again_ = false;
  /// Returns the notes of the component that executes the collectives.
  std::function<std::vector<std::string>()> notes_;
  std::set<std::string> noted_;  ///< notes that were sent to the coordinator
};

/// Returns the listener for peers. It listens at the given address, or else at the address by which
/// this worker reaches the coordinator.
Expected<Listener> open_listener(const WorkerJoin& join, const Connection& to_coordinator) {
  return Listener::open(join.listen.value_or(Address{own_host(to_coordinator.file()), 0}));
}

}  // namespace

std::int64_t WorkerClock::shows(std::int64_t ns) const {
  return ns + offset_ns + ns / 1'000'000 * drift_ppm + ns % 1'000'000 * drift_ppm / 1'000'000;
}

std::int64_t WorkerClock::when(std::int64_t shown) const {
  // Invert shows() by fixed-point iteration. Each iteration multiplies the error by the clock's
  // relative drift.
  std::int64_t ns = shown - offset_ns;
  for (int round = 0; round < 5; ++round) ns -= shows(ns) - shown;
  return ns;
}

WorkerEnd work(const WorkerJoin& join) {
  const auto stop = [&join] {
    return join.interrupted && join.interrupted->load(std::memory_order_relaxed);
  };
  static_cast<void>(allow_many_files());
  for (WorkerJoin next = join;;) {
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(join.wait);
    auto found = find_coordinator(next.where, next.worker, until, stop, next.tls);
    if (!found) return {tl::make_unexpected(found.error())};
    auto listener = open_listener(next, found->connection);
    if (!listener) return {tl::make_unexpected(listener.error())};
    std::optional<Worker> worker;
    worker.emplace(next, std::move(*found), std::move(*listener));
    WorkerEnd end = worker->work();
    if (!end.done || !worker->wanted_again()) return end;
    const Appointment same = worker->appointment();
    const std::int32_t number = worker->number();
    worker.reset();
    next.where = [same] { return std::optional(same); };
    next.worker = number;
  }
}

}  // namespace tutti::real
