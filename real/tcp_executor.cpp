#include "real/tcp_executor.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <random>
#include <thread>

#include <fmt/format.h>

#include "core/base/version.h"
#include "core/scenario/run_info.h"
#include "real/control.h"
#include "real/proto/run.pb.h"

namespace tutti::real {

using core::Error;
using core::Expected;
using core::Time;
using Clock = ControlChannel::Clock;

namespace {

/// A child process that does not outlive this object.
class Child {
 public:
  explicit Child(pid_t id) : id_(id) {}
  Child(Child&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  ~Child() {
    if (id_ < 0) return;
    // Those that were told to finish get a moment to do so.
    for (int i = 0; i < 100 && !ended(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (id_ < 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }

  /// How it ended, in words; nothing while it runs.
  std::optional<std::string> ended() {
    if (id_ < 0) return how_;
    int status = 0;
    if (::waitpid(id_, &status, WNOHANG) != id_) return std::nullopt;
    id_ = -1;
    how_ = WIFSIGNALED(status)
               ? fmt::format("was ended by signal {} ({})", WTERMSIG(status), strsignal(WTERMSIG(status)))
               : fmt::format("ended with exit status {}", WEXITSTATUS(status));
    return how_;
  }

 private:
  pid_t id_ = -1;
  std::string how_;
};

std::string random_secret() {
  std::random_device device;
  std::string secret;
  for (int i = 0; i < 4; ++i) secret += fmt::format("{:08x}", device());
  return secret;
}

class Coordinator {
 public:
  Coordinator(const TcpExecutorOptions& options, const core::Scenario& scenario, const core::RecordOptions& record,
              const core::RunControl& control, core::TimelineSink& sink, Listener listener)
      : options_(options),
        scenario_(scenario),
        record_(record),
        control_(control),
        sink_(sink),
        listener_(std::move(listener)),
        secret_(random_secret()),
        time_scale_(options.time_scale ? options.time_scale(scenario) : 0),
        workers_(static_cast<std::size_t>(scenario.cluster->workers())) {}

  Expected<void> run() {
    begin();
    for (const std::string& note : core::recording_notes(record_, *scenario_.cluster)) sink_.note(note);
    Expected<void> done = all_steps();
    if (!done && stopped_) {
      sink_.note(fmt::format("stopped by request after {} of {} steps", steps_ended_, scenario_.run.steps));
      done = {};
    }
    for (Worker& worker : workers_) {
      proto::Control finish;
      finish.mutable_finish();
      if (worker.channel) static_cast<void>(worker.channel->send(finish));
      worker.channel.reset();
    }
    sink_.end();
    return done;
  }

 private:
  struct Worker {
    std::optional<Child> child;
    std::optional<ControlChannel> channel;
    int port = 0;
  };

  [[nodiscard]] bool emulates() const { return time_scale_ > 0; }

  void begin() {
    if (emulates()) {
      core::RunInfo info = core::run_info(
          scenario_, fmt::format("emulated over tcp, {:g} times slower, processes of this machine", time_scale_));
      info.network_model.clear();
      return sink_.begin(info);
    }
    core::RunInfo info = core::run_info(scenario_, "run over tcp, processes of this machine");
    // The scenario's network and its least possible times are those of other hardware.
    info.network_model.clear();
    info.bound_reason.clear();
    info.communication_bound = info.step_bound = Time();
    sink_.begin(info);
    if (scenario_.plan.launch_overhead > Time()) sink_.note("launch_us is not replayed");
    if (scenario_.cluster->workers() > 1 && scenario_.strategy.staging == core::Staging::kViaHost &&
        scenario_.cluster->part(scenario_.cluster->replica(0)).kind == core::PartKind::kGpu)
      sink_.note("devices are emulated in memory of their worker: copies through host memory are not replayed");
  }

  /// A duration of this machine, on the scenario's clock.
  [[nodiscard]] Time scenario_time(std::int64_t ns) const {
    return emulates() ? Time(std::llround(static_cast<double>(ns) * 1000 / time_scale_)) : Time(ns * 1000);
  }

  void note_punctuality() {
    if (!emulates()) return;
    if (late_ == 0) return;
    sink_.note(
        fmt::format("{} of {} messages came later than their links would have let them, by up to {:.1f} µs of the "
                    "scenario's time: this machine was too busy; a greater --time-scale helps",
                    late_, messages_, core::to_us(scenario_time(latest_ns_))));
  }

  Expected<void> all_steps() {
    if (auto started = start_workers(); !started) return started;
    if (auto met = meet_workers(); !met) return met;
    if (auto assigned = assign(); !assigned) return assigned;
    for (std::int32_t step = 0; step < scenario_.run.steps; ++step) {
      if (auto ready = from_everyone([](const proto::Control& m) { return m.has_ready(); }, "is not ready"); !ready)
        return tl::make_unexpected(ready.error());
      if (auto ran = run_step(step); !ran) return ran;
      ++steps_ended_;
      if (control_.progress) control_.progress(static_cast<double>(steps_ended_) / scenario_.run.steps);
    }
    // After the last comparison.
    auto ready = from_everyone([](const proto::Control& m) { return m.has_ready(); }, "has not compared its results");
    if (!ready) return tl::make_unexpected(ready.error());
    if (left_out_)
      sink_.note(fmt::format("not all spans were recorded: {} are as many as were asked for", record_.most_spans));
    note_punctuality();
    sink_.note(options_.verify ? "every element of every result was compared and is right"
                               : "results were not compared (--no-verify)");
    return {};
  }

  [[nodiscard]] static std::string name(std::size_t worker) { return fmt::format("worker {}", worker); }

  Expected<void> failed(std::size_t worker, const std::string& what) const {
    return tl::make_unexpected(Error::run(fmt::format("{} {}", name(worker), what)));
  }

  bool cancelled() {
    if (control_.cancel && control_.cancel->load(std::memory_order_relaxed)) stopped_ = true;
    return stopped_;
  }

  // --- processes ---

  Expected<void> start_workers() {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      // The secret goes by the environment: arguments can be read by others on this machine.
      std::vector<std::string> settings;
      for (char** entry = environ; *entry; ++entry) {
        if (!std::string_view(*entry).starts_with("TUTTI_RUN_SECRET=")) settings.emplace_back(*entry);
      }
      settings.push_back("TUTTI_RUN_SECRET=" + secret_);
      std::vector<char*> environment;
      for (std::string& setting : settings) environment.push_back(setting.data());
      environment.push_back(nullptr);
      std::string join = fmt::format("127.0.0.1:{}", listener_.port());
      std::string number = std::to_string(w);
      std::string program = options_.program;
      char* arguments[] = {program.data(), const_cast<char*>("worker"),   const_cast<char*>("--join"),
                           join.data(),    const_cast<char*>("--worker"), number.data(),
                           nullptr};
      posix_spawnattr_t attributes;
      posix_spawnattr_init(&attributes);
      // A group of its own: Ctrl-C reaches the coordinator alone, which then ends its workers in order.
      posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
      posix_spawnattr_setpgroup(&attributes, 0);
      pid_t id = -1;
      const int status = ::posix_spawn(&id, program.c_str(), nullptr, &attributes, arguments, environment.data());
      posix_spawnattr_destroy(&attributes);
      if (status != 0) return failed(w, fmt::format("cannot be started from {}: {}", program, strerror(status)));
      workers_[w].child.emplace(id);
    }
    return {};
  }

  Expected<void> meet_workers() {
    const Clock::time_point until = Clock::now() + std::chrono::seconds(60);
    for (std::size_t missing = workers_.size(); missing > 0;) {
      if (cancelled()) return tl::make_unexpected(Error::run("stopped"));
      if (auto alive = look_after_children(); !alive) return alive;
      if (Clock::now() > until)
        return tl::make_unexpected(Error::run(fmt::format("{} of {} workers never came", missing, workers_.size())));
      const auto socket = listener_.accept(Clock::now() + std::chrono::milliseconds(50));
      if (!socket) continue;
      ControlChannel channel(*socket);
      auto message = channel.receive(Clock::now() + std::chrono::seconds(5));
      if (!message || !*message || !(*message)->has_hello()) continue;  // a stranger
      const proto::Hello& hello = (*message)->hello();
      if (hello.secret() != secret_ || hello.worker() < 0 ||
          static_cast<std::size_t>(hello.worker()) >= workers_.size())
        continue;
      const auto w = static_cast<std::size_t>(hello.worker());
      if (hello.version() != core::version())
        return failed(w, fmt::format("is Tutti {}, this is {}", hello.version(), core::version()));
      if (workers_[w].channel) continue;
      workers_[w].channel.emplace(std::move(channel));
      workers_[w].port = hello.port();
      --missing;
    }
    return {};
  }

  Expected<void> assign() {
    proto::Control message;
    proto::Assignment& assignment = *message.mutable_assignment();
    assignment.set_scenario_file(scenario_.file);
    assignment.set_scenario_text(scenario_.text);
    assignment.set_library(options_.library);
    assignment.set_steps(scenario_.run.steps);
    assignment.set_seed(scenario_.run.seed);
    assignment.set_time_scale(time_scale_);
    for (const Worker& worker : workers_) {
      proto::Address& address = *assignment.add_peer();
      address.set_host("127.0.0.1");
      address.set_port(worker.port);
    }
    // A rank that spins keeps another from running where cores are too few.
    const bool room = workers_.size() <= std::thread::hardware_concurrency();
    assignment.set_spin_ns(room ? 50'000 : 0);
    assignment.set_verify(options_.verify);
    assignment.set_record_packs(record_.level >= core::RecordLevel::kPacks);
    assignment.set_record_steps(record_.level >= core::RecordLevel::kSteps);
    assignment.set_most_spans(record_.most_spans / static_cast<std::int64_t>(workers_.size()));
    assignment.set_timeout_seconds(timeout_seconds());
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (!workers_[w].channel->send(message)) return failed(w, "is gone");
    }
    return {};
  }

  Expected<void> look_after_children() {
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (const auto how = workers_[w].child->ended()) return failed(w, *how);
    }
    return {};
  }

  /// One message of the wanted kind from each. A failure of one, or its end, is the end for all.
  template <class Wanted>
  Expected<std::vector<std::unique_ptr<proto::Control>>> from_everyone(Wanted wanted, const std::string& otherwise) {
    std::vector<std::unique_ptr<proto::Control>> messages(workers_.size());
    std::size_t missing = workers_.size();
    // Workers watch themselves; this is for one that is stopped altogether.
    Clock::time_point until = Clock::now() + patience();
    while (missing > 0) {
      if (cancelled()) return tl::make_unexpected(Error::run("stopped"));
      bool any = false;
      for (std::size_t w = 0; w < workers_.size(); ++w) {
        if (messages[w]) continue;
        auto message = workers_[w].channel->receive(Clock::now() + std::chrono::milliseconds(any ? 0 : 5));
        if (!message) {
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          const auto how = workers_[w].child->ended();
          return tl::make_unexpected(failed(w, how.value_or(message.error().message())).error());
        }
        if (!*message) continue;
        any = true;
        if ((*message)->has_failure()) return tl::make_unexpected(cause_of(w, (*message)->failure()));
        if (!wanted(**message)) return tl::make_unexpected(failed(w, "sent something else").error());
        messages[w] = std::move(*message);
        --missing;
        until = Clock::now() + patience();
      }
      if (Clock::now() < until) continue;
      for (std::size_t w = 0; w < workers_.size(); ++w) {
        if (!messages[w]) return tl::make_unexpected(failed(w, otherwise + " and says nothing").error());
      }
    }
    return messages;
  }

  /// Of the scenario's clock.
  [[nodiscard]] double timeout_seconds() const { return options_.timeout_seconds * std::max(1.0, time_scale_); }

  [[nodiscard]] Clock::duration patience() const {
    return std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_seconds() + 10)) +
           std::chrono::seconds(30);
  }

  /// The first to report often only tells that another one is gone: waits a moment for that one's own words.
  Error cause_of(std::size_t worker, const proto::Failure& failure) {
    const Clock::time_point until = Clock::now() + std::chrono::milliseconds(300);
    while (!failure.wrong_result() && Clock::now() < until) {
      for (std::size_t w = 0; w < workers_.size(); ++w) {
        if (w == worker) continue;
        if (const auto how = workers_[w].child->ended(); how && *how != "ended with exit status 1")
          return failed(w, *how).error();
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return failed(worker, "says: " + failure.text()).error();
  }

  // --- steps ---

  Expected<void> run_step(std::int32_t step) {
    proto::Control go;
    go.mutable_go()->set_step(step);
    // Long enough for everybody to hear of it: steps begin together.
    const auto start = Clock::now() + (emulates() ? std::chrono::milliseconds(20) : std::chrono::milliseconds(1));
    go.mutable_go()->set_start_ns(std::chrono::nanoseconds(start.time_since_epoch()).count());
    for (std::size_t w = 0; w < workers_.size(); ++w) {
      if (!workers_[w].channel->send(go)) return failed(w, "is gone");
    }
    auto results = from_everyone([](const proto::Control& m) { return m.has_step(); }, "has not ended its step");
    if (!results) return tl::make_unexpected(results.error());
    merge(step, *results);
    return {};
  }

  /// All processes of a machine read the same clock. The step's place in the timeline is right behind the one before.
  void merge(std::int32_t step, const std::vector<std::unique_ptr<proto::Control>>& results) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max();
    for (const auto& result : results) {
      for (const proto::ReplicaStep& replica : result->step().replica()) first = std::min(first, replica.start_ns());
    }
    const auto in_run = [&](std::int64_t ns) { return length_ + scenario_time(ns - first); };
    const auto as_time = [&](std::int64_t ns) { return scenario_time(ns); };
    messages_ = late_ = 0;
    for (const auto& result : results) {
      messages_ += result->step().messages();
      late_ += result->step().late_messages();
      latest_ns_ = std::max(latest_ns_, result->step().latest_ns());
    }

    core::StepRecord record;
    record.step = step;
    record.start = length_;
    Time longest(-1);
    for (const auto& result : results) {
      for (const proto::ReplicaStep& replica : result->step().replica()) {
        record.end = std::max(record.end, in_run(replica.end_ns()));
        const Time computed = as_time(replica.forward_ns() + replica.backward_ns() + replica.other_ns());
        if (computed < longest) continue;
        longest = computed;
        record.slowest = replica.device();
        record.forward = as_time(replica.forward_ns());
        record.backward = as_time(replica.backward_ns());
        record.other_compute = as_time(replica.other_ns());
        record.communication = as_time(replica.communication_ns());
      }
    }
    record.exposed = std::max(Time(), record.end - record.start - longest);

    std::vector<core::PackRecord> packs(scenario_.plan.packs.size());
    for (std::size_t p = 0; p < packs.size(); ++p) {
      core::PackRecord& pack = packs[p];
      pack.step = step;
      pack.pack = static_cast<std::int32_t>(p);
      bool fresh = true;
      for (const auto& result : results) {
        const proto::PackStep& part = result->step().pack(static_cast<int>(p));
        pack.ready = std::max(pack.ready, in_run(part.ready_ns()));
        pack.first_start =
            fresh ? in_run(part.first_start_ns()) : std::min(pack.first_start, in_run(part.first_start_ns()));
        pack.last_start = std::max(pack.last_start, in_run(part.last_start_ns()));
        pack.end = std::max(pack.end, in_run(part.end_ns()));
        fresh = false;
      }
      sink_.pack(pack);
    }
    for (const auto& result : results) {
      const proto::StepResult& part = result->step();
      for (int i = 0; i < part.track_size(); ++i) write_spans(part.track(i), part.spans(i), in_run);
      left_out_ = left_out_ || part.spans_left_out();
    }
    sink_.step(record);
    length_ = record.end;
  }

  template <class InRun>
  void write_spans(const proto::TrackInfo& row, const proto::SpanColumns& columns, InRun in_run) {
    if (row.worker() < record_.first_worker || row.worker() > record_.last_worker) return;
    const auto key = std::tuple(row.kind(), row.worker(), std::string(row.device()), row.slot(), row.lane());
    const auto [known, fresh] = tracks_.try_emplace(key, static_cast<core::TrackId>(tracks_.size()));
    if (fresh) {
      sink_.track({known->second, static_cast<core::TrackKind>(row.kind()), row.worker(), std::string(row.device()),
                   row.slot(), row.lane()});
    }
    for (int i = 0; i < columns.start_ps_size(); ++i) {
      core::Span span;
      span.start = in_run(columns.start_ps(i));
      span.duration = scenario_time(columns.duration_ps(i));
      span.wait = scenario_time(columns.wait_ps(i));
      span.kind = columns.kind(i);
      span.step = columns.step(i);
      span.pack = columns.pack(i);
      span.index = columns.index(i);
      span.bytes = core::Bytes(columns.bytes(i));
      if (span.start + span.duration < record_.from || span.start > record_.to) continue;
      sink_.span(known->second, span);
    }
  }

  const TcpExecutorOptions& options_;
  const core::Scenario& scenario_;
  const core::RecordOptions& record_;
  const core::RunControl& control_;
  core::TimelineSink& sink_;
  Listener listener_;
  std::string secret_;
  double time_scale_ = 0;  ///< 0: nothing is emulated
  std::int64_t messages_ = 0, late_ = 0, latest_ns_ = 0;
  std::vector<Worker> workers_;
  std::map<std::tuple<int, std::int32_t, std::string, std::int32_t, std::int32_t>, core::TrackId> tracks_;
  Time length_;
  int steps_ended_ = 0;
  bool stopped_ = false;
  bool left_out_ = false;
};

}  // namespace

Expected<void> TcpExecutor::run(const core::Scenario& scenario, const core::RecordOptions& record,
                                const core::RunControl& control, core::TimelineSink& sink) {
  constexpr std::int64_t kMostWorkers = 64;
  if (scenario.cluster->workers() > kMostWorkers) {
    return tl::make_unexpected(
        Error::request(fmt::format("{} workers would be as many processes on this machine; up to {} can be run here",
                                   scenario.cluster->workers(), kMostWorkers),
                       {scenario.file, 0, 0}));
  }
  auto listener = Listener::open();
  if (!listener) return tl::make_unexpected(listener.error());
  return Coordinator(options_, scenario, record, control, sink, std::move(*listener)).run();
}

}  // namespace tutti::real
