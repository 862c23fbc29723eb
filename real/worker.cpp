#include "real/worker.h"

#include <algorithm>
#include <new>
#include <set>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "core/scenario/scenario.h"
#include "core/strategy/plan_digest.h"
#include "real/backend.h"
#include "real/crew.h"
#include "real/ground.h"
#include "real/heartbeat.h"
#include "real/machine.h"
#include "real/nccl/api.h"
#include "real/perf_loop.h"
#include "real/proto/run.pb.h"
#include "real/protocol.h"
#include "real/step_message.h"
#include "real/transport/shm.h"
#include "real/transport/tcp.h"
#include "real/worker_run.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using proto::Control;
using Clock = ControlChannel::Clock;

namespace {

std::int64_t now_ns() { return std::chrono::nanoseconds(Clock::now().time_since_epoch()).count(); }

std::chrono::milliseconds heartbeat_interval(double timeout_seconds) {
  return std::chrono::milliseconds(
      std::clamp<std::int64_t>(static_cast<std::int64_t>(timeout_seconds * 200), 20, 1000));
}

Expected<core::Scenario> read_plan(const proto::Assignment& assignment) {
  std::vector<core::Library::File> files;
  for (const proto::LibraryFile& f : assignment.file())
    files.push_back({static_cast<core::Library::Kind>(f.kind()), f.name(), f.path(), f.text()});
  auto scenario = core::read_scenario(assignment.scenario_text(), assignment.scenario_file(), core::Library(files));
  if (!scenario) return scenario;
  const std::uint64_t digest = core::plan_digest(*scenario);
  if (digest != assignment.plan_digest()) {
    return tl::make_unexpected(Error::run(fmt::format(
        "makes another plan of the scenario ({:016x}, Tutti {}) than the coordinator ({:016x}, Tutti {}); use "
        "the same program for both",
        digest, protocol(), assignment.plan_digest(), protocol())));
  }
  scenario->run.steps = assignment.steps();
  scenario->run.seed = assignment.seed();
  return scenario;
}

class Worker {
 public:
  Worker(const WorkerJoin& join, CoordinatorFound found, Listener listener)
      : join_(join),
        found_(std::move(found.appointment)),
        run_id_(found.run),
        channel_(std::move(found.socket), ControlChannel::kLongestToWorker),
        listener_(std::move(listener)) {}

  WorkerEnd work() {
    Expected<void> done = steps_in_memory();
    bool told = coordinator_said_so_;
    if (!done && !told) {
      const std::string text =
          fmt::format("{} ({})", done.error().message(), heartbeat_ ? heartbeat_->doing() : "joining");
      told = tell(text);
      // Also if it takes nothing any more: what it said before may still be unread.
      done = tl::make_unexpected(interrupted() ? verdict(text) : Error::run(text));
    }
    return {std::move(done), (told || coordinator_said_so_) && !coordinator_gone_};
  }

  /// Once work() is done: the coordinator expects this worker for another run.
  [[nodiscard]] bool wanted_again() const { return wanted_again_; }
  [[nodiscard]] const Appointment& appointment() const { return found_; }
  [[nodiscard]] std::int32_t number() const { return worker_; }

 private:
  Expected<void> steps_in_memory() {
    try {
      return all_steps();
    } catch (const std::bad_alloc&) {
      run_.reset();
      return tl::make_unexpected(Error::run(
          "out of memory; every replica of a worker holds all its gradients, and what the plan adds to them"));
    }
  }

  bool tell(const std::string& text) {
    Control message;
    message.mutable_failure()->set_text(text);
    message.mutable_failure()->set_wrong_result(wrong_result_);
    return channel_.send(message).has_value();
  }

  /// What the coordinator, who hears of all, makes of an error. Until then the connections to the others stay open, so
  /// that they hear of the cause from there too, and not of consequences from here.
  Error verdict(const std::string& text) {
    const auto until = Clock::now() + std::chrono::seconds(3);
    while (Clock::now() < until) {
      auto message = channel_.receive(until);
      coordinator_gone_ = !message;
      // It says why before it goes. Peers may have noticed earlier that it had not, and be gone for that.
      if (!message && blamed_worker(text))
        return Error::run(fmt::format("the coordinator is gone ({})", heartbeat_ ? heartbeat_->doing() : "joining"));
      if (!message || !*message) break;
      if ((*message)->has_finish()) return Error::run("the run was stopped");
      if ((*message)->has_failure()) return understood(std::move(*message)).error();
    }
    return Error::run(text);
  }

  Expected<void> all_steps() {
    auto assignment = join();
    if (!assignment) return tl::make_unexpected(assignment.error());
    const proto::Assignment& order = **assignment;
    patience_ = std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(order.timeout_seconds()));
    heartbeat_.emplace(channel_, heartbeat_interval(order.timeout_seconds()));
    now_doing("reading the plan");
    scenario_ = read_plan(order);
    if (!*scenario_) return tl::make_unexpected(scenario_->error());
    now_doing("connecting to the other workers");
    if (auto met = meet(order); !met) return met;
    now_doing("making its buffers");
    if (auto opened = open_transport(order); !opened) return opened;
    if (order.has_loop()) return loop(order);
    if (auto made = make_run(order); !made) return made;
    const std::int32_t batch = std::max(order.batch(), 1);
    for (std::int32_t first = 0; first < order.steps(); first += batch) {
      const std::int32_t count = std::min(batch, order.steps() - first);
      const std::int32_t last = first + count - 1;
      steps_ = count == 1 ? fmt::format("step {}", first) : fmt::format("steps {} to {}", first, last);
      now_doing("getting ready for " + steps_);
      run_->prepare(first, count);
      auto go = wait_for_go([this] { serve(); });
      if (!go) return tl::make_unexpected(go.error());
      if (!*go) return {};  // told to finish
      if (auto ran = run_batch(); !ran) return ran;
    }
    notes_ = [this] { return run_->last_words(); };
    auto more = wait_for_go([this] { serve(); });
    if (!more) return tl::make_unexpected(more.error());
    return {};
  }

  void now_doing(std::string what) { heartbeat_->now_doing(std::move(what)); }

  // --- joining ---

  Expected<std::unique_ptr<proto::Assignment>> join() {
    Control message;
    proto::Hello& hello = *message.mutable_hello();
    const Address& at = listener_.address();
    if (!is_every_address(at.host)) hello.mutable_address()->set_host(at.host);
    hello.mutable_address()->set_port(at.port);
    hello.set_ranks(join_.ranks);
    hello.set_clock(join_.clock.identity.empty() ? clock_identity() : join_.clock.identity);
    hello.set_host_name(host_name());
    if (!channel_.send(message)) return tl::make_unexpected(Error::run("the coordinator is gone"));
    // The others may take their time; the coordinator tells now and then that it is still there.
    auto assigned = next(std::chrono::seconds(60), {});
    if (!assigned) return tl::make_unexpected(assigned.error());
    if (!(*assigned)->has_assignment()) return tl::make_unexpected(not_due("an assignment"));
    return std::unique_ptr<proto::Assignment>((*assigned)->release_assignment());
  }

  static int streams_of(const proto::Assignment& order) { return std::clamp(order.streams(), 1, kMostStreams); }

  Expected<void> meet(const proto::Assignment& order) {
    worker_ = order.worker();
    PeerMeeting meeting;
    meeting.secret = found_.secret;
    meeting.run = run_id_;
    meeting.worker = worker_;
    meeting.until = Clock::now() + patience_;
    meeting.streams = streams_of(order);
    meeting.coordinator = channel_.file();
    // Who has joined over loopback is on the coordinator's machine; others find it there.
    const bool near = is_loopback(their_host(channel_.file())).value_or(false);
    for (const proto::Address& peer : order.peer()) {
      Address address{peer.host(), peer.port()};
      if (!near && is_loopback(address.host).value_or(false)) address.host = found_.coordinator.host;
      meeting.peers.push_back(std::move(address));
    }
    auto sockets = meet_peers(meeting, listener_, [this] { return look_at_coordinator(); });
    if (!sockets) return tl::make_unexpected(sockets.error());
    sockets_ = std::move(*sockets);
    return {};
  }

  Expected<void> open_transport(const proto::Assignment& order) {
    std::vector<std::int32_t> worker_of;
    const core::Collective& first = (**scenario_).plan.packs.front().collective;
    for (core::Rank r = 0; r < first.schedule->ranks(); ++r) worker_of.push_back(first.group.device(r).worker);
    const WaitOptions options{
        std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::nanoseconds(order.spin_ns()))};
    if (order.transport() != "shm") {
      transport_ =
          std::make_unique<TcpTransport>(std::move(sockets_), std::move(worker_of), options, streams_of(order));
      return {};
    }
    auto opened = ShmTransport::open(std::move(sockets_), worker_, std::move(worker_of), options,
                                     {Clock::now() + patience_, [this] { return look_at_coordinator(); }});
    if (!opened) return tl::make_unexpected(opened.error());
    transport_ = std::move(*opened);
    return {};
  }

  [[nodiscard]] static WorkerOptions options_of(const proto::Assignment& order) {
    WorkerOptions options;
    options.verify = order.verify();
    options.log = {order.record_packs(), order.record_steps(), order.most_spans()};
    options.timeout = std::chrono::duration<double>(order.timeout_seconds());
    return options;
  }

  Expected<void> make_run(const proto::Assignment& order) {
    const core::Scenario& scenario = **scenario_;
    WorkerOptions options = options_of(order);
    records_steps_ = order.record_steps();
    const auto backend = backend_of(order);
    if (!backend) return tl::make_unexpected(backend.error());
    auto devices = make_devices(*backend, scenario);
    if (!devices) return tl::make_unexpected(devices.error());
    ground_.emplace(scenario, order.time_scale(), *transport_, std::move(*devices));
    const auto collectives = collectives_for(*backend, ground_->transport(), ground_->devices());
    if (!collectives) return tl::make_unexpected(collectives.error());
    options.scale = ground_->scale();
    // Whoever waits here may wait for what takes long there only because it is slowed down.
    if (ground_->emulates())
      options.timeout =
          std::min<std::chrono::duration<double>>(options.timeout * std::max(1.0, order.time_scale()), kLongestHere);
    options.replay_launch = order.time_scale() > 0;
    options.busy = order.busy();
    run_.emplace(scenario, worker_, ground_->transport(), ground_->devices(), ground_->timers(), options, *collectives);
    ground_->transport().connect(run_->receiver(), ground_->devices());
    notes_ = [this] { return run_->notes(); };
    return {};
  }

  [[nodiscard]] Expected<BackendOptions> backend_of(const proto::Assignment& order) const {
    BackendOptions options;
    const auto backend = parse_backend(order.backend());
    if (!backend)
      return tl::make_unexpected(Error::run(fmt::format("the coordinator wants backend {}", order.backend())));
    options.backend = *backend;
    options.worker = worker_;
    options.workers_before = order.workers_before();
    options.workers_here = order.workers_here();
    options.spin = std::chrono::nanoseconds(order.spin_ns());
    options.timeout = std::chrono::duration<double>(order.timeout_seconds());
    options.follow_channels = order.record_steps();
    return options;
  }

  Expected<CollectivesMaker> collectives_for(const BackendOptions& backend, Transport& transport, Devices& devices) {
    const core::Scenario& scenario = **scenario_;
    const auto id = nccl_id(backend.backend, scenario);
    if (!id) return tl::make_unexpected(id.error());
    auto made = make_collectives(backend, scenario, transport, devices, *id, [this] { return still_wanted(); });
    if (!made) return tl::make_unexpected(stop_reason_.value_or(made.error()));
    return made;
  }

  /// The name of the communicator of all ranks, by way of the coordinator; empty if there is none.
  Expected<std::string> nccl_id(Backend backend, const core::Scenario& scenario) {
    if (!needs_nccl_id(backend, scenario)) return std::string();
    std::string own;
    if (worker_ == 0) {
      auto made = make_nccl_id();
      if (!made) return made;
      own = std::move(*made);
    }
    Control message;
    message.set_nccl_id(own);
    if (!channel_.send(message)) return tl::make_unexpected(Error::run("the coordinator is gone"));
    auto told = next(patience_ + std::chrono::seconds(2), {});
    if (!told) return tl::make_unexpected(told.error());
    if (!(*told)->has_nccl_id()) return tl::make_unexpected(not_due("NCCL's name for the run"));
    if ((*told)->nccl_id().size() != kTuttiNcclIdBytes) return tl::make_unexpected(not_due("NCCL's name for the run"));
    return (*told)->nccl_id();
  }

  /// A benchmark: one step that holds all iterations.
  Expected<void> loop(const proto::Assignment& order) {
    const auto backend = backend_of(order);
    if (!backend) return tl::make_unexpected(backend.error());
    const auto devices = make_devices(*backend, **scenario_);
    if (!devices) return tl::make_unexpected(devices.error());
    const auto collectives = collectives_for(*backend, *transport_, **devices);
    if (!collectives) return tl::make_unexpected(collectives.error());
    PerfLoop loop(**scenario_, worker_, *transport_, **devices, options_of(order),
                  {order.loop().iterations(), order.loop().warm_up()}, *collectives);
    transport_->connect(loop.receiver(), **devices);
    notes_ = [&loop] { return loop.notes(); };
    const auto serve = [&] { static_cast<void>(loop.serve(Clock::now() + std::chrono::milliseconds(2))); };
    auto go = wait_for_go(serve);
    if (!go) return tl::make_unexpected(go.error());
    if (!*go) return {};
    now_doing("repeating its collective");
    auto result = loop.run([this] { return still_wanted(); });
    wrong_result_ = loop.wrong_result();
    if (!result) return tl::make_unexpected(stop_reason_.value_or(result.error()));
    if (auto flushed = loop.flush(); !flushed) return flushed;
    Control message;
    write_step(
        *result, [this](std::int64_t ns) { return join_.clock.shows(ns); }, *message.mutable_step());
    if (!channel_.send(message)) return tl::make_unexpected(Error::run("the coordinator is gone"));
    auto more = wait_for_go(serve);
    if (!more) return tl::make_unexpected(more.error());
    return {};
  }

  // --- steps ---

  Expected<void> run_batch() {
    now_doing("in " + steps_);
    // Long lists of spans would keep what is running waiting; where it is emulated, that does no harm.
    const bool at_once = ground_->emulates() || !records_steps_;
    auto ran = run_->run(begin_, [&] { return (!at_once || tell_of_steps()) && still_wanted(); });
    const bool told = tell_of_steps();
    if (!ran) return tl::make_unexpected(stop_reason_.value_or(ran.error()));
    if (!told) return tl::make_unexpected(Error::run("the coordinator is gone"));
    if (auto flushed = run_->flush(); !flushed) return flushed;
    now_doing("comparing the results of " + steps_);
    auto right = run_->verify();
    wrong_result_ = !right;
    return right;
  }

  /// Steps that are over here. False if the coordinator is gone.
  bool tell_of_steps() {
    for (const WorkerStep& step : run_->take_steps()) {
      Control message;
      write_step(
          step, [this](std::int64_t ns) { return join_.clock.shows(ns); }, *message.mutable_step());
      const EmulatedNetwork::Punctuality punctuality = ground_->punctuality();
      message.mutable_step()->set_messages(punctuality.messages);
      message.mutable_step()->set_late_messages(punctuality.late);
      message.mutable_step()->set_latest_ns(std::chrono::nanoseconds(punctuality.latest).count());
      if (!channel_.send(message)) return false;
    }
    return true;
  }

  void serve() { static_cast<void>(run_->serve(Clock::now() + std::chrono::milliseconds(2))); }

  /// Ready for the next step, or at the end. True for a step to begin, at begin_; false to finish.
  Expected<bool> wait_for_go(const std::function<void()>& serve) {
    Control ready;
    ready.mutable_ready();
    for (const std::string& note : notes_()) {
      if (noted_.insert(note).second) ready.mutable_ready()->add_note(note);
    }
    if (!channel_.send(ready)) return tl::make_unexpected(Error::run("the coordinator is gone"));
    now_doing("waiting for the others");
    // A peer that has begun already is served; one that is gone is noticed by the coordinator.
    auto message = next(patience_ + std::chrono::seconds(2), serve);
    if (!message) return tl::make_unexpected(message.error());
    if ((*message)->has_finish()) {
      wanted_again_ = (*message)->finish().come_again();
      return false;
    }
    if (!(*message)->has_go()) return tl::make_unexpected(not_due("the next step"));
    const Clock::time_point start{std::chrono::nanoseconds(join_.clock.when((*message)->go().start_ns()))};
    begin_ = std::min(start, Clock::now() + patience_);
    return true;
  }

  // --- what the coordinator says ---

  /// The next message that asks for something. Pings are answered; `meanwhile` is called when there is nothing to read.
  /// ERRORS: the coordinator is gone, says nothing for `silence`, or says that the run has failed; interrupted.
  Expected<std::unique_ptr<Control>> next(Clock::duration silence, const std::function<void()>& meanwhile) {
    Clock::time_point until = Clock::now() + silence;
    // A coordinator that compares clocks wants its answers at once.
    Clock::time_point listens_until;
    while (true) {
      if (auto told = interrupted(); !told) return tl::make_unexpected(told.error());
      const bool listens = Clock::now() < listens_until;
      auto message = channel_.receive(Clock::now() + std::chrono::milliseconds(meanwhile && !listens ? 2 : 20));
      if (!message) return tl::make_unexpected(Error::run("the coordinator " + message.error().message()));
      if (*message) {
        until = Clock::now() + silence;
        if (!(*message)->has_ping()) return understood(std::move(*message));
        answer((*message)->ping());
        listens_until = Clock::now() + std::chrono::milliseconds(5);
        continue;
      }
      if (Clock::now() > until) {
        return tl::make_unexpected(Error::run(fmt::format("the coordinator has said nothing for {:.3g} s",
                                                          std::chrono::duration<double>(silence).count())));
      }
      if (meanwhile) meanwhile();
    }
  }

  void answer(const proto::Ping& ping) {
    const std::int64_t received = join_.clock.shows(now_ns());
    Control message;
    proto::Pong& pong = *message.mutable_pong();
    pong.set_sent_ns(ping.sent_ns());
    pong.set_received_ns(received);
    pong.set_answered_ns(join_.clock.shows(now_ns()));
    static_cast<void>(channel_.send(message));
  }

  Expected<std::unique_ptr<Control>> understood(std::unique_ptr<Control> message) {
    if (!message->has_failure()) return message;
    coordinator_said_so_ = true;
    const std::string& text = message->failure().text();
    if (message->failure().request()) return tl::make_unexpected(Error::request(text));
    return tl::make_unexpected(Error::run("the run has failed: " + text));
  }

  /// Without waiting: is the run still on?
  Expected<void> look_at_coordinator() {
    if (auto told = interrupted(); !told) return told;
    auto message = channel_.receive({});
    if (!message) return tl::make_unexpected(Error::run("the coordinator " + message.error().message()));
    if (!*message) return {};
    if ((*message)->has_ping()) return answer((*message)->ping()), Expected<void>();
    auto said = understood(std::move(*message));
    if (!said) return tl::make_unexpected(said.error());
    if ((*said)->has_finish()) {
      coordinator_said_so_ = true;
      return tl::make_unexpected(Error::run("the run was stopped"));
    }
    return tl::make_unexpected(not_due("nothing"));
  }

  bool still_wanted() {
    if (Clock::now() - looked_ < std::chrono::milliseconds(10)) return true;
    looked_ = Clock::now();
    const auto said = look_at_coordinator();
    if (!said) stop_reason_ = said.error();
    return said.has_value();
  }

  [[nodiscard]] Expected<void> interrupted() const {
    if (!join_.interrupted || !join_.interrupted->load(std::memory_order_relaxed)) return {};
    return tl::make_unexpected(Error::run("interrupted"));
  }

  static Error not_due(const std::string& what) {
    return Error::run("the coordinator sent something else where " + what + " was due");
  }

  const WorkerJoin& join_;
  Appointment found_;
  RunId run_id_;
  ControlChannel channel_;
  Listener listener_;
  std::int32_t worker_ = 0;
  Clock::duration patience_{};
  std::optional<Heartbeat> heartbeat_;
  std::optional<Expected<core::Scenario>> scenario_;
  std::vector<int> sockets_;
  std::unique_ptr<Transport> transport_;
  std::optional<Ground> ground_;
  std::optional<WorkerRun> run_;
  bool records_steps_ = false;
  std::string steps_;  ///< of the batch at hand, in words
  std::optional<Error> stop_reason_;
  Clock::time_point begin_;  ///< of the step at hand
  Clock::time_point looked_;
  bool wrong_result_ = false;
  bool wanted_again_ = false;
  std::function<std::vector<std::string>()> notes_;  ///< of what carries out the collectives
  std::set<std::string> noted_;                      ///< what the coordinator has been told of them
  bool coordinator_said_so_ = false;
  bool coordinator_gone_ = false;
};

/// Where a worker listens for its peers: as it was told, or at the address by which it reaches the coordinator.
Expected<Listener> open_listener(const WorkerJoin& join, const Socket& to_coordinator) {
  return Listener::open(join.listen.value_or(Address{own_host(to_coordinator.get()), 0}));
}

}  // namespace

std::int64_t WorkerClock::shows(std::int64_t ns) const {
  return ns + offset_ns + ns / 1'000'000 * drift_ppm + ns % 1'000'000 * drift_ppm / 1'000'000;
}

std::int64_t WorkerClock::when(std::int64_t shown) const {
  // Each round leaves a drift's share of what was missing.
  std::int64_t ns = shown - offset_ns;
  for (int round = 0; round < 5; ++round) ns -= shows(ns) - shown;
  return ns;
}

WorkerEnd work(const WorkerJoin& join) {
  const auto stop = [&join] { return join.interrupted && join.interrupted->load(std::memory_order_relaxed); };
  static_cast<void>(allow_many_files());
  for (WorkerJoin next = join;;) {
    const auto until = Clock::now() + std::chrono::duration_cast<Clock::duration>(join.wait);
    auto found = find_coordinator(next.where, next.worker, until, stop);
    if (!found) return {tl::make_unexpected(found.error())};
    auto listener = open_listener(next, found->socket);
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
