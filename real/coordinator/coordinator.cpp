// A run is a sequence of phases. In each phase, every worker sends one message of the expected
// kind. Workers join, receive the plan, and report that they are ready. Then all workers begin a
// batch of training steps at the same time, report each step, and prepare the next batch. The
// number of steps in a batch is the number of steps that have buffers at the same time. Workers
// execute a batch without waiting for the coordinator. Records are merged only after the clocks of
// other machines have been compared a second time, after the batch, which makes times more exact.
// Even if a run fails, the steps that all workers have completed are merged, and the timeline is
// closed. The file worker_set.cpp handles messages, timeouts and the search for the cause of a
// failure. The file merge.cpp merges the records.

#include "real/coordinator/coordinator.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <set>

#include <fmt/format.h>

#include "core/scenario/plan_digest.h"
#include "core/scenario/run_info.h"
#include "real/coordinator/async_account.h"
#include "real/coordinator/merge.h"
#include "real/coordinator/worker_set.h"
#include "real/nccl/api.h"
#include "real/proto/run.pb.h"
#include "real/wire/peer_text.h"
#include "real/worker/memory_need.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::Time;
using proto::Control;

namespace {

/// If workers wait for CPU cores during at least this fraction of the time with packs in flight,
/// the user gets a note.
constexpr double kMinReportedShare = 0.1;

/// The maximum number of notes from workers that the coordinator stores. A note is a sentence for
/// the user, for example about a kind of device.
constexpr std::size_t kMaxNotes = 200;

/// Returns the beginning of a sentence about the backend, before the name of the transport.
std::string how(Backend backend) {
  switch (backend) {
    case Backend::kTcp: return "over";
    case Backend::kCuda: return "on CUDA devices, and between workers over";
    case Backend::kNccl: return "by NCCL, with other messages over";
  }
  return "";
}

class Coordinator {
 public:
  Coordinator(const TcpExecutorOptions& options, const core::Scenario& scenario,
              const core::RecordOptions& record, const core::RunControl& control,
              core::TimelineSink& sink, std::optional<Listener>& listener);

  Expected<bool> run();

 private:
  void begin_timeline();
  Expected<void> all_steps();
  Expected<void> start_workers();
  Expected<void> assign();
  Expected<void> broadcast_nccl_id();
  void take_notes(const WorkerSet::Messages& ready);
  [[nodiscard]] InboxLimit inbox_limit() const;
  [[nodiscard]] std::string unreachable() const;
  Expected<void> run_batch(std::int32_t first, std::int32_t count);
  Expected<void> take_results(std::int32_t step);
  void record_complete_steps();
  void keep_timeline();
  [[nodiscard]] std::int32_t steps_in_a_batch() const;
  /// Returns the time of the coordinator's clock at which all workers begin the next step. The time
  /// is late enough for all workers to receive the message.
  [[nodiscard]] std::int64_t next_start_ns() const;
  [[nodiscard]] bool emulates() const { return time_scale_ > 0; }
  /// True if the GPUs of the workers exist only in the scenario.
  [[nodiscard]] bool devices_in_memory() const;
  /// Merges the steps that have ended.
  void merge_ended_steps();
  void closing_notes(const Expected<void>& done);

  const TcpExecutorOptions& options_;
  const core::Scenario& scenario_;
  const core::RecordOptions& record_;
  core::TimelineSink& sink_;
  std::optional<Listener>& listener_;  ///< open until all workers have joined
  double time_scale_;                  ///< the emulation's slowdown; 0: nothing is emulated
  RunId run_{};
  /// The caller's RunControl, extended by a callback that also updates the timeline.
  core::RunControl control_;
  Children children_;  // destroyed after the workers were dismissed
  WorkerSet worker_set_;
  StepMerger merger_;
  /// Messages about steps of the batch that all workers have ended.
  std::vector<WorkerSet::Messages> pending_;
  std::int32_t batch_begins_ = 0;  ///< the first step of the current batch
  std::int64_t clock_bound_ns_ = 0;
  std::int64_t messages_ = 0, late_ = 0, latest_ns_ = 0;
  std::int32_t steps_ended_ = 0;
  std::set<std::string> notes_seen_;  ///< notes of workers, at most kMaxNotes
  AsyncAccount async_servers_;        ///< only for asynchronous workers
};

Coordinator::Coordinator(const TcpExecutorOptions& options, const core::Scenario& scenario,
                         const core::RecordOptions& record, const core::RunControl& control,
                         core::TimelineSink& sink, std::optional<Listener>& listener)
    : options_(options),
      scenario_(scenario),
      record_(record),
      sink_(sink),
      listener_(listener),
      time_scale_(options.time_scale ? options.time_scale(scenario) : 0),
      control_(control),
      worker_set_(scenario.cluster->workers(), children_, control_,
                  std::chrono::duration_cast<WorkerSet::Clock::duration>(
                      std::chrono::duration<double>(options.timeout_seconds))),
      merger_(scenario, time_scale_, record, sink),
      async_servers_(scenario.plan.partition ? scenario.plan.partition->groups() : 0,
                     scenario.run.steps) {
  fill_random(run_.data(), run_.size());
  control_.progress = [this, send = control.progress](double share) {
    keep_timeline();
    if (send) send(share);
  };
}

Expected<bool> Coordinator::run() {
  begin_timeline();
  Expected<void> done = all_steps();
  const bool come_again = done && options_.gathering.come_again;
  const bool stopped = !done && worker_set_.cancelled();
  worker_set_.dismiss(done || stopped ? nullptr : &done.error(), come_again);
  record_complete_steps();
  merge_ended_steps();
  if (stopped) {
    sink_.note(
        fmt::format("stopped by request after {} of {} steps", steps_ended_, scenario_.run.steps));
    done = {};
  } else if (!done) {
    sink_.note(fmt::format("failed after {} of {} steps: {}", steps_ended_, scenario_.run.steps,
                           done.error().message()));
  }
  closing_notes(done);
  sink_.end();
  if (!done) return tl::make_unexpected(done.error());
  return come_again;
}

bool Coordinator::devices_in_memory() const {
  return !emulates() && options_.backend == Backend::kTcp &&
         scenario_.cluster->part(scenario_.cluster->replica(0)).kind == core::PartKind::kGpu;
}

void Coordinator::begin_timeline() {
  const bool all_here = options_.gathering.spawn == Gathering::Spawn::kAll;
  const std::string where = all_here ? "processes of this machine" : "workers that joined";
  const std::string medium = options_.transport == "shm" ? "shared memory" : options_.transport;
  core::RunInfo info = core::run_info(
      scenario_, emulates() ? fmt::format("emulated over {}, {:g} times slower, {}", medium,
                                          time_scale_, where)
                            : fmt::format("run {} {}, {}", how(options_.backend), medium, where));
  info.network_model.clear();
  if (!emulates()) {
    // The scenario's lower bounds hold for the scenario's hardware, and not for this machine.
    info.bound_reason.clear();
    info.communication_bound = info.step_bound = Time();
  }
  info.devices_in_memory = devices_in_memory();
  sink_.begin(info);
  for (const std::string& note : core::recording_notes(record_, *scenario_.cluster))
    sink_.note(note);
  // Authentication codes and TLS cost time, which is included in the measured times.
  if (options_.integrity) sink_.note("messages between workers had authentication codes");
  if (options_.gathering.tls)
    sink_.note(options_.gathering.tls->mode() == TlsMode::kSecret
                   ? "connections were encrypted by TLS with a key derived from the run's secret"
                   : "connections were encrypted by TLS with certificates");
  if (emulates()) return;
  if (options_.streams > 1)
    sink_.note(fmt::format("{} connections between each pair of workers", options_.streams));
  if (options_.busy) sink_.note("computation kept one core per replica busy");
  if (scenario_.strategy.requested_launch_overhead) sink_.note("launch_us is not replayed");
  const std::vector<core::Pack>& packs = scenario_.plan.packs;
  if (scenario_.strategy.timeout)
    sink_.note(
        "timeout_seconds of the scenario has no effect on a real run; use the option "
        "--timeout-seconds to set the timeout of a real run");
  if (devices_in_memory() && scenario_.cluster->workers() > 1 &&
      std::any_of(packs.begin(), packs.end(), [&](const core::Pack& p) {
        return scenario_.plan.collective(p).staging != core::Staging::kDirect;
      }))
    sink_.note(
        "copies between GPUs and host memory are not replayed, because in this run all buffers are "
        "in host memory");
}

Expected<void> Coordinator::all_steps() {
  if (auto started = start_workers(); !started) return started;
  if (auto met = gather(worker_set_, children_, options_.gathering, *listener_, run_); !met)
    return met;
  if (!options_.gathering.come_again) listener_.reset();
  if (options_.gathering.met) options_.gathering.met();
  if (emulates() && worker_set_.several_machines()) {
    return tl::make_unexpected(
        Error::request("--emulate needs all workers on one machine, because it uses a single "
                       "clock; remove --emulate, or start all workers on one machine"));
  }
  worker_set_.limit_inboxes(inbox_limit());
  if (auto assigned = assign(); !assigned) return assigned;
  if (auto named = broadcast_nccl_id(); !named) return named;
  const std::int32_t batch = steps_in_a_batch();
  const auto name = [this](std::size_t worker) { return worker_set_.name(worker); };
  for (std::int32_t first = 0; first < scenario_.run.steps; first += batch) {
    auto ready = worker_set_.receive_from_all(Control::kReady, "is not ready");
    if (!ready) return tl::make_unexpected(ready.error());
    take_notes(*ready);
    if (auto same = async_servers_.take(*ready, name); !same) return same;
    if (auto aligned = worker_set_.align_clocks(); !aligned) return aligned;
    merge_ended_steps();
    async_servers_.batch_ended();
    if (auto ran = run_batch(first, std::min(batch, scenario_.run.steps - first)); !ran) return ran;
  }
  auto ready = worker_set_.receive_from_all(Control::kReady, "has not verified its results");
  if (!ready) return tl::make_unexpected(ready.error());
  take_notes(*ready);
  if (auto same = async_servers_.take(*ready, name); !same) return same;
  return worker_set_.align_clocks();
}

Expected<void> Coordinator::start_workers() {
  const Gathering& gathering = options_.gathering;
  const std::size_t count = gathering.spawn == Gathering::Spawn::kAll     ? worker_set_.size()
                            : gathering.spawn == Gathering::Spawn::kFirst ? 1
                                                                          : 0;
  ChildOrder order;
  order.program = options_.program;
  order.join = listener_->address();
  order.secret = gathering.secret;
  if (gathering.tls) order.tls = gathering.tls->option();
  if (is_every_address(order.join.host)) {
    // Workers that the coordinator starts on this machine join over loopback. Workers on other
    // machines connect to these local workers at the coordinator's own address.
    order.join.host = "127.0.0.1";
    order.listen = "0.0.0.0:0";  // the user has already let the coordinator listen at all addresses
  }
  for (order.worker = 0; order.worker < count; ++order.worker) {
    if (auto started = children_.start(order); !started) return started;
  }
  return {};
}

/// Returns the reason why workers on other machines cannot reach a worker. A worker that joined
/// over loopback listens only on loopback, unless another address was given.
std::string Coordinator::unreachable() const {
  const auto near = [](const Member& m) { return is_loopback(m.address.host).value_or(false); };
  std::optional<std::size_t> inside;
  bool outside = false;
  for (std::size_t w = 0; w < worker_set_.size(); ++w) {
    if (near(worker_set_[w]) && worker_set_[w].only_there) inside = w;
    outside = outside || !near(worker_set_[w]);
  }
  if (!inside || !outside) return {};
  return fmt::format(
      "{} has joined over loopback, so workers on other machines cannot connect to it; start this "
      "worker with the coordinator's network address instead of 127.0.0.1",
      worker_set_.name(*inside));
}

Expected<void> Coordinator::assign() {
  if (const std::string why = unreachable(); !why.empty())
    return tl::make_unexpected(Error::request(why));
  Control message;
  proto::Assignment& assignment = *message.mutable_assignment();
  assignment.set_scenario_file(scenario_.file);
  assignment.set_scenario_text(scenario_.text);
  for (const core::Library::File& file : scenario_.files) {
    proto::LibraryFile& f = *assignment.add_file();
    f.set_kind(static_cast<int>(file.kind));
    f.set_name(file.name);
    f.set_path(file.path);
    f.set_text(file.text);
  }
  assignment.set_plan_digest(core::plan_digest(scenario_));
  assignment.set_steps(scenario_.run.steps);
  assignment.set_batch(steps_in_a_batch());
  assignment.set_seed(scenario_.run.seed);
  for (std::size_t w = 0; w < worker_set_.size(); ++w) {
    proto::Address& address = *assignment.add_peer();
    address.set_host(worker_set_[w].address.host);
    address.set_port(worker_set_[w].address.port);
  }
  assignment.set_verify(options_.verify);
  assignment.set_record_packs(record_.level >= core::RecordLevel::kPacks);
  assignment.set_record_steps(record_.level >= core::RecordLevel::kSteps);
  assignment.set_most_spans(record_.most_spans / static_cast<std::int64_t>(worker_set_.size()));
  assignment.set_timeout_seconds(options_.timeout_seconds);
  assignment.set_time_scale(time_scale_);
  assignment.set_busy(options_.busy);
  assignment.set_backend(to_string(options_.backend));
  std::map<std::string, int> here, before;
  for (std::size_t w = 0; w < worker_set_.size(); ++w) ++here[worker_set_[w].host];
  assignment.set_transport(options_.transport);
  assignment.set_streams(options_.streams);
  assignment.set_integrity(options_.integrity);
  if (options_.loop) {
    assignment.mutable_loop()->set_iterations(options_.loop->iterations);
    assignment.mutable_loop()->set_warm_up(options_.loop->warm_up);
  }
  for (std::size_t w = 0; w < worker_set_.size(); ++w) {
    assignment.set_worker(static_cast<std::int32_t>(w));
    assignment.set_workers_here(here[worker_set_[w].host]);
    assignment.set_workers_before(before[worker_set_[w].host]++);
    assignment.set_spin_ns(50'000);
    if (auto sent = worker_set_.send(w, message); !sent) return sent;
  }
  return {};
}

/// Worker 0 creates the identifier of the communicator of all ranks.
Expected<void> Coordinator::broadcast_nccl_id() {
  if (!needs_nccl_id(options_.backend, scenario_)) return {};
  auto ids =
      worker_set_.receive_from_all(Control::kNcclId, "has not sent the communicator's identifier");
  if (!ids) return tl::make_unexpected(ids.error());
  if (const std::size_t size = ids->front()->nccl_id().size(); size != kTuttiNcclIdBytes) {
    return tl::make_unexpected(
        Error::run({core::ProblemCode::kProtocol},
                   fmt::format("{} has sent a communicator identifier of {} bytes instead of {}",
                               worker_set_.name(0), size, kTuttiNcclIdBytes)));
  }
  for (std::size_t w = 0; w < worker_set_.size(); ++w) {
    if (auto sent = worker_set_.send(w, *ids->front()); !sent) return sent;
  }
  return {};
}

/// Reports the workers' notes on their devices and the run. Equal notes are reported once.
void Coordinator::take_notes(const WorkerSet::Messages& ready) {
  for (const auto& message : ready) {
    for (const std::string& text : message->ready().note()) {
      if (notes_seen_.size() >= kMaxNotes) return;
      const std::string note = peer_text(text, kLongestNote);
      if (notes_seen_.insert(note).second) sink_.note(note);
    }
  }
}

/// Returns the limit of the unread messages of one worker for this plan. A worker may end all steps
/// of a batch, and be ready for the next batch, before another worker has ended the first step.
/// Sizes are upper bounds of the encoded messages (real/worker/step_message.cpp).
InboxLimit Coordinator::inbox_limit() const {
  constexpr std::int64_t kReplica = 512, kPack = 96, kSpan = 192, kRead = 64;
  constexpr std::int64_t kMax = std::int64_t{4} << 30;
  const core::Cluster& cluster = *scenario_.cluster;
  const std::int64_t batch = steps_in_a_batch();
  const auto packs = static_cast<std::int64_t>(scenario_.plan.packs.size());
  const std::int64_t reads = scenario_.plan.partition ? packs * (cluster.workers() + 1) : 0;
  const std::int64_t of_a_step =
      cluster.replicas_per_worker() * kReplica + packs * kPack + reads * kRead;
  const std::int64_t spans =
      std::min(record_.most_spans / cluster.workers() + 1, kMax / kSpan) * kSpan;
  const std::int64_t bytes = std::min(
      static_cast<std::int64_t>(ControlChannel::kLongestMessage) + batch * of_a_step + spans, kMax);
  return {static_cast<std::size_t>(batch) + 4, static_cast<std::size_t>(bytes)};
}

std::int64_t Coordinator::next_start_ns() const {
  std::int64_t far_ns = 0;
  for (std::size_t w = 0; w < worker_set_.size(); ++w) {
    const Member& member = worker_set_[w];
    // A clock's error bound is half of a round trip, so four times the error bound is the time of
    // two round trips.
    if (member.other_clock) far_ns = std::max(far_ns, 4 * member.clock.latest_bound_ns());
  }
  const std::int64_t now =
      std::chrono::nanoseconds(WorkerSet::Clock::now().time_since_epoch()).count();
  return now + (emulates() ? 20'000'000 : 1'000'000) +
         20'000 * static_cast<std::int64_t>(worker_set_.size()) + far_ns;
}

/// Returns the number of training steps in a batch. All steps of a batch have buffers at the same
/// time, so these buffers must fit into the memory of the machine with the most workers.
std::int32_t Coordinator::steps_in_a_batch() const {
  std::map<std::string, std::int64_t> on_host;
  std::int64_t most = 1;
  for (std::size_t w = 0; w < worker_set_.size(); ++w)
    most = std::max(most, ++on_host[worker_set_[w].host]);
  return steps_at_once(scenario_, most);
}

Expected<void> Coordinator::run_batch(std::int32_t first, std::int32_t count) {
  batch_begins_ = first;
  const std::int64_t start_ns = next_start_ns();
  for (std::size_t w = 0; w < worker_set_.size(); ++w) {
    Control go;
    go.mutable_go()->set_step(first);
    go.mutable_go()->set_start_ns(worker_set_[w].clock.to_theirs(start_ns));
    if (auto sent = worker_set_.send(w, go); !sent) return sent;
  }
  for (std::int32_t step = first; step < first + count; ++step) {
    if (auto taken = take_results(step); !taken) return taken;
  }
  return {};
}

Expected<void> Coordinator::take_results(std::int32_t step) {
  auto results = worker_set_.receive_from_all(Control::kStep, "has not completed its step");
  if (!results) return tl::make_unexpected(results.error());
  for (std::size_t w = 0; w < worker_set_.size(); ++w) {
    if (const std::string wrong =
            merger_.problem_of((*results)[w]->step(), static_cast<std::int32_t>(w), step);
        !wrong.empty())
      return tl::make_unexpected(worker_set_.failed(w, core::ProblemCode::kProtocol, wrong));
  }
  pending_.push_back(std::move(*results));
  ++steps_ended_;
  worker_set_.set_progress(static_cast<double>(steps_ended_) / scenario_.run.steps);
  return {};
}

/// Keeps the complete steps of a batch in which the run was stopped or failed. A step is complete
/// if all workers have reported its end.
void Coordinator::record_complete_steps() {
  while (auto results = worker_set_.try_receive_from_all(Control::kStep)) {
    for (std::size_t w = 0; w < results->size(); ++w) {
      if (!merger_.problem_of((*results)[w]->step(), static_cast<std::int32_t>(w), steps_ended_)
               .empty())
        return;
    }
    pending_.push_back(std::move(*results));
    ++steps_ended_;
  }
}

/// Called periodically while the coordinator waits for workers, so that the timeline is also
/// written during a long batch.
void Coordinator::keep_timeline() {
  // Clocks of other machines are also compared after the batch, and times are less exact until
  // then.
  if (!worker_set_.several_machines()) merge_ended_steps();
}

void Coordinator::merge_ended_steps() {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    std::vector<WorkerPart> parts;
    // Workers report totals since the start of the run, so the latest step has the current totals.
    messages_ = late_ = 0;
    for (std::size_t w = 0; w < worker_set_.size(); ++w) {
      const proto::StepResult& result = pending_[i][w]->step();
      const ClockOffset& clock = worker_set_[w].clock;
      messages_ += result.messages();
      late_ += result.late_messages();
      latest_ns_ = std::max(latest_ns_, result.latest_ns());
      parts.push_back({&result, [&clock](std::int64_t ns) { return clock.to_ours(ns); }});
      if (result.replica_size() > 0 && scenario_.plan.partition)
        async_servers_.step_ended(static_cast<std::int64_t>(w), result.step(),
                                  clock.to_ours(result.replica(0).start_ns()),
                                  clock.to_ours(result.replica(0).end_ns()));
      for (const proto::ReplicaStep& replica : result.replica()) {
        for (const std::int64_t ns :
             {replica.start_ns(), replica.end_ns(), (replica.start_ns() + replica.end_ns()) / 2})
          clock_bound_ns_ = std::max(clock_bound_ns_, clock.at(ns).bound_ns);
      }
    }
    const std::int32_t step = pending_[i].front()->step().step();
    if (step == batch_begins_) merger_.begin_batch(parts);
    const bool complete = !merger_.left_out();
    merger_.merge(step, parts);
    if (complete && merger_.left_out())
      sink_.note(core::limit_note_of_step(step, record_.most_spans));
  }
  pending_.clear();
}

void Coordinator::closing_notes(const Expected<void>& done) {
  if (emulates() && late_ > 0) {
    sink_.note(fmt::format(
        "{} of {} messages were late compared with the emulated links, by up to {:.1f} µs of the "
        "scenario's time, because this machine was too busy; use a larger --time-scale",
        late_, messages_, core::to_us(merger_.scenario_time(latest_ns_))));
  }
  if (const double waited = merger_.core_wait(); waited >= kMinReportedShare) {
    const std::string how_long =
        options_.loop ? ""
                      : fmt::format(" for up to {:.0f} % of the time that packs were in flight",
                                    100 * waited);
    sink_.note(fmt::format(
        "workers waited for a CPU core{}, because workers and other programs together need more "
        "cores than the machine has; the measured times include this waiting time",
        how_long));
  }
  if (worker_set_.several_machines() && steps_ended_ > 0) {
    sink_.note(
        fmt::format("times measured on machines other than the coordinator's are accurate to "
                    "± {:.3g} µs",
                    core::to_us(merger_.scenario_time(clock_bound_ns_))));
    for (std::size_t w = 0; w < worker_set_.size(); ++w) {
      if (worker_set_[w].clock.drift_exceeded())
        sink_.note(fmt::format(
            "the times of {} are not reliable, because its clock was set or stopped during the run",
            worker_set_.name(w)));
    }
  }
  if (!done || steps_ended_ < scenario_.run.steps) return;
  if (scenario_.plan.partition) {
    async_servers_.batch_ended();
    sink_.note(async_servers_.describe());
    if (const std::int32_t batch = steps_in_a_batch(); batch < scenario_.run.steps)
      sink_.note(
          fmt::format("workers wait for each other every {} to verify results and refill buffers",
                      batch == 1 ? std::string("step") : fmt::format("{} steps", batch)));
  }
  sink_.note(!options_.verify ? "results were not verified (--no-verify)"
             : options_.loop ? "results verified: every element is correct in one iteration before "
                               "and in one iteration after the timed iterations"
                             : "results verified: every element is correct");
}

}  // namespace

Expected<bool> coordinate(const TcpExecutorOptions& options, const core::Scenario& scenario,
                          const core::RecordOptions& record, const core::RunControl& control,
                          core::TimelineSink& sink, std::optional<Listener>& listener) {
  return Coordinator(options, scenario, record, control, sink, listener).run();
}

}  // namespace tutti::real
