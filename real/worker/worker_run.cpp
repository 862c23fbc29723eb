// One thread executes all replicas of a worker: it polls timers, devices, collectives and the
// transport in turn, and each completed task lets the replica's runner start further tasks.
// Computation is replayed, not executed. A task begins at the end of the previous task of its
// stream (Replica::cause), not at the time when polling detected this end. If tasks began at the
// time of detection, polling delays would add up over the layers of a model. `left_in_all_` counts
// the steps that have not ended and the ranks' parts of packs that are not complete. A batch of
// steps ends when the count is 0. The run fails if there is no progress for the timeout. Pending
// timers and computing devices count as progress. The file worker_run_packs.cpp launches and
// completes packs.

#include "real/worker/worker_run.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include "core/base/check.h"
#include "core/strategy/noise.h"
#include "real/worker/patience.h"
#include "real/worker/worker_run_state.h"

namespace tutti::real {

using core::ComputeKind;
using core::ComputeTask;
using core::Rank;
using Clock = Transport::Clock;

namespace {

std::unique_ptr<Collectives> interpreter(Transport& transport, Devices& devices,
                                         InterpreterListener& listener, bool watch_steps) {
  return std::make_unique<Interpreter>(transport, devices, listener, watch_steps);
}

}  // namespace

WorkerRun::WorkerRun(const core::Scenario& scenario, std::int32_t worker, Transport& transport,
                     Devices& devices, Timers& timers, const WorkerOptions& options,
                     const CollectivesMaker& maker)
    : scenario_(scenario),
      transport_(transport),
      devices_(devices),
      timers_(timers),
      options_(options),
      programs_(scenario.workload, scenario.plan, core::StepPrograms::Divisions::kByExecutor),
      pull_of_(core::pulls_of(scenario.plan)),
      collectives_(maker ? maker(*this, options.log.steps)
                         : interpreter(transport, devices, *this, options.log.steps)),
      gates_(scenario.plan),
      log_(scenario, worker, options.log) {
  const core::Cluster& cluster = *scenario.cluster;
  std::size_t group = 0;
  for (std::int64_t before = cluster.groups()[0].count; worker >= before;
       before += cluster.groups()[++group].count) {
  }
  const int per_worker = cluster.replicas_per_worker();
  const bool server = worker >= cluster.workers() - cluster.servers();
  for (int i = 0; i < per_worker && !server; ++i) {
    const auto rank = static_cast<Rank>(worker * per_worker + i);
    const core::PartId device = cluster.replica(rank);
    const core::DeviceRates& rates = cluster.part(device).device;
    const core::StepProgram& program = programs_.program(group);
    core::Runner runner(program.program, programs_.durations(group), {rates.copy, rates.memory});
    replicas_.push_back(std::make_unique<Replica>(*this, std::move(runner), program, rank,
                                                  static_cast<std::size_t>(i), device));
    if (options.busy) replicas_.back()->core = std::make_unique<BusyThread>();
    ranks_.push_back(rank);
  }
  if (scenario.plan.partition) {
    async_servers_ = std::make_unique<AsyncServers>(scenario, worker, devices);
    ranks_.push_back(static_cast<Rank>(cluster.replicas() + worker));
    return;
  }
  if (scenario.plan.fuses()) fuse();
  TUTTI_CHECK(!gates_.any() || gates_.scope() == core::GateScope::kWorker || scenario.plan.fuses(),
              "in a real run, a gate (a rule that decides when packs start) whose scope is all "
              "replicas must fuse packs");
  if (gates_.any() && gates_.scope() == core::GateScope::kWorker && !replicas_.empty())
    gate_ = gates_.make({ranks_.front(), std::ssize(replicas_)}, {});
  gradients_ = std::make_unique<Gradients>(scenario, ranks_,
                                           static_cast<Rank>(cluster.replicas() + worker), devices);
  if (scenario.plan.widest().schedule->ranks() > cluster.replicas())
    ranks_.push_back(static_cast<Rank>(cluster.replicas() + worker));
}

WorkerRun::~WorkerRun() = default;

/// Creates the object that executes Horovod's cycles, if the plan has cycles.
void WorkerRun::fuse() {
  Cycles::Hooks hooks;
  hooks.data = [this](std::int32_t step, int pack, std::size_t replica) {
    return gradients_->data(step, static_cast<std::size_t>(pack), replica);
  };
  hooks.launched = [this](std::int32_t step, int pack, std::size_t r) {
    launched(*replicas_[r], step, pack);
  };
  hooks.done = [this](std::int32_t step, int pack, std::size_t r) {
    done(step, pack, replicas_[r]->rank);
  };
  const auto period = options_.scale.here(scenario_.plan.gate->cycle());
  cycles_ = std::make_unique<Cycles>(scenario_, ranks_,
                                     std::chrono::duration_cast<std::chrono::nanoseconds>(period),
                                     devices_, timers_, *collectives_, std::move(hooks));
}

std::vector<std::string> WorkerRun::notes() const {
  std::vector<std::string> notes = devices_.notes();
  for (std::string& note : collectives_->notes()) notes.push_back(std::move(note));
  return notes;
}

std::vector<std::string> WorkerRun::final_notes() const {
  std::vector<std::string> words = notes();
  for (std::string& word : collectives_->final_notes()) words.push_back(std::move(word));
  // All workers have the same text, so only the first worker reports it.
  if (std::string fused = cycles_ && ranks_.front() == 0 ? cycles_->describe() : ""; !fused.empty())
    words.push_back(std::move(fused));
  return words;
}

/// Returns the ranks of this worker that take part in the pack: all replicas, and the worker's CPU
/// if the pack uses it.
std::vector<Rank> WorkerRun::ranks_of(std::size_t pack) const {
  const bool host = scenario_.plan.collective(scenario_.plan.packs[pack]).schedule->ranks() >
                    scenario_.cluster->replicas();
  return {ranks_.begin(), host ? ranks_.end() : ranks_.begin() + replicas_.size()};
}

bool WorkerRun::is_in(std::int32_t step, std::size_t pack) const {
  return core::takes_part(scenario_.plan, scenario_.plan.packs[pack], step);
}

// --- batches ---

void WorkerRun::prepare(std::int32_t first, std::int32_t count) {
  first_ = first;
  count_ = count;
  log_.begin(first, count, replicas_.size());
  if (async_servers_) return async_servers_->prepare(first, count, *collectives_);
  gradients_->fill(first, count);
  for (std::int32_t step = first; step < first + count; ++step) {
    for (std::size_t p = 0; p < scenario_.plan.packs.size(); ++p) {
      if (!is_in(step, p) || is_fused(p)) continue;
      const std::vector<Rank> ranks = ranks_of(p);
      std::vector<std::byte*> data(ranks.size());
      for (std::size_t r = 0; r < data.size(); ++r) data[r] = gradients_->data(step, p, r);
      collectives_->open(
          tag_of(step, p), scenario_.plan.collective(scenario_.plan.packs[p]),
          operation_of(core::reduction_of(scenario_.strategy, scenario_.plan.packs[p])), ranks,
          data);
    }
  }
  if (cycles_) cycles_->prepare(first, count);
}

core::Expected<void> WorkerRun::run(Clock::time_point begin, const std::function<bool()>& idle) {
  const std::size_t packs = scenario_.plan.packs.size();
  left_.assign(count_,
               std::ssize(replicas_) + (async_servers_ ? async_servers_->parts_of_step() : 0));
  for (std::int32_t step = first_; !async_servers_ && step < first_ + count_; ++step) {
    for (std::size_t p = 0; p < packs; ++p) {
      if (is_in(step, p)) left_[step - first_] += std::ssize(ranks_of(p));
    }
  }
  left_in_all_ = std::accumulate(left_.begin(), left_.end(), std::int64_t{0});
  core_wait_.emplace();
  in_flight_ = 0;
  taken_ = first_;
  for (const std::unique_ptr<Replica>& replica : replicas_) {
    replica->step = first_;
    timers_.at(begin, [this, r = replica.get()] { begin_step(*r); });
  }
  start_helpers();
  if (cycles_) cycles_->begin(begin);
  still_since_.reset();
  Clock::time_point moved = Clock::now();
  const auto seen_now = [this] { return progress_ + collectives_->moved() + transport_.carried(); };
  std::int64_t seen = seen_now();
  while (left_in_all_ > 0) {
    go_on();
    if (left_in_all_ == 0) break;
    const Clock::time_point now = Clock::now();
    if (auto done = look(now + std::chrono::milliseconds(20)); !done) return done;
    if (seen_now() != seen || timers_.next() != Clock::time_point::max() || computes(now)) {
      seen = seen_now();
      moved = now;
      still_since_.reset();
    } else if (still_since_ = moved; now - moved > options_.timeout) {
      return tl::make_unexpected(core::Error::run(
          {core::ProblemCode::kTimeout}, nothing_moved(options_.timeout, progress_text())));
    }
    if (!idle())
      return tl::make_unexpected(
          core::Error::run({core::ProblemCode::kStopped}, "the run was stopped"));
  }
  collectives_->drain();
  if (async_servers_) async_servers_->close(*collectives_);
  if (cycles_) cycles_->close();
  for (std::int32_t step = first_; !async_servers_ && step < first_ + count_; ++step) {
    for (std::size_t p = 0; p < packs; ++p) {
      if (is_in(step, p) && !is_fused(p)) collectives_->close(tag_of(step, p));
    }
  }
  return {};
}

/// Starts the collectives of packs on this worker's CPU at the beginning of the step. Only a pull
/// starts later, when the CPU has completed the corresponding push.
void WorkerRun::start_helpers() {
  if (async_servers_) return async_servers_->begin(*collectives_);
  for (std::size_t r = replicas_.size(); r < ranks_.size(); ++r) {
    for (std::int32_t step = first_; step < first_ + count_; ++step) {
      for (std::size_t p = 0; p < scenario_.plan.packs.size(); ++p) {
        if (scenario_.plan.packs[p].answers < 0 && is_in(step, p) && r < ranks_of(p).size())
          collectives_->start(tag_of(step, p), ranks_[r]);
      }
    }
  }
}

std::vector<WorkerStep> WorkerRun::take_steps() {
  std::vector<WorkerStep> steps;
  while (taken_ < first_ + count_ && left_[taken_ - first_] == 0)
    steps.push_back(log_.take(taken_++));
  return steps;
}

void WorkerRun::count_completed(std::int32_t step) {
  --left_in_all_;
  if (--left_[step - first_] > 0) return;
  if (in_flight_ > 0) waited_for_core_ += core_wait_->lap();
  log_.waited_for_core(step, std::exchange(waited_for_core_, {}));
}

/// Polls devices and collectives without waiting, so that all work that can continue does so.
void WorkerRun::go_on() {
  const auto once = [this] {
    if (auto polled = devices_.poll(*this); !polled && works_) works_ = polled;
    if (auto polled = collectives_->poll(); !polled && works_) works_ = polled;
    if (cycles_) cycles_->go_on();
  };
  timers_.run_due(once);
  once();
}

/// Polls for events, waiting until `until` if necessary, and continues with them.
core::Expected<void> WorkerRun::look(Clock::time_point until) {
  if (!works_) return works_;
  until = std::min({until, timers_.next(), devices_.next_due(), collectives_->next_due()});
  if (auto polled = transport_.poll(until); !polled) return polled;
  go_on();
  return works_;
}

core::Expected<void> WorkerRun::serve(Clock::time_point until) { return transport_.poll(until); }

core::Expected<void> WorkerRun::flush() {
  Clock::time_point moved_at = Clock::now();
  std::int64_t carried = transport_.carried();
  while (!transport_.flushed()) {
    go_on();
    if (auto moved = look(Clock::now() + std::chrono::milliseconds(5)); !moved) return moved;
    if (transport_.carried() != carried) moved_at = Clock::now();
    carried = transport_.carried();
    if (Clock::now() - moved_at > options_.timeout)
      return tl::make_unexpected(core::Error::run(
          {core::ProblemCode::kTimeout}, "no progress, because a peer does not accept data"));
  }
  return {};
}

core::Expected<void> WorkerRun::verify() {
  if (async_servers_) return options_.verify ? async_servers_->verify() : core::Expected<void>();
  for (std::int32_t step = first_; options_.verify && step < first_ + count_; ++step) {
    auto right = gradients_->verify(step);
    // If a device has failed, report the failure, not the wrong result that it has caused.
    if (auto polled = devices_.poll(*this); !polled) return polled;
    if (!right) return right;
  }
  return {};
}

// --- steps of a replica ---

void WorkerRun::begin_step(Replica& replica) {
  ReplicaStep& record = replica.record();
  record.device = scenario_.cluster->part_name(replica.device);
  record.start = replica.cause.value_or(timers_.now());
  replica.stream_free = record.start;
  replica.exposed.begin_step();
  const core::RunOptions& options = scenario_.run;
  replica.runner.begin_step(
      core::pace_of(options.compute_jitter_ppm, options.seed, replica.rank, replica.step), replica);
}

void WorkerRun::end_step(Replica& replica) {
  ++progress_;
  ReplicaStep& record = replica.record();
  record.end = replica.cause.value_or(timers_.now());
  record.communication = std::chrono::nanoseconds(replica.exposed.communication().count());
  record.exposed = std::chrono::nanoseconds(replica.exposed.exposed().count());
  count_completed(replica.step);
  if (++replica.step < first_ + count_) begin_step(replica);
}

void WorkerRun::compute(Replica& replica, const ComputeTask& task) {
  const Clock::time_point start =
      std::max(replica.cause.value_or(timers_.now()), replica.stream_free);
  const auto length = options_.scale.here(task.duration);
  replica.stream_free = start + length;
  // A task with duration 0 also goes to the device if earlier tasks there have not ended, so that
  // it ends after them.
  const bool takes_time = task.duration > core::Time() || !replica.on_device.empty();
  if (takes_time && devices_.compute(replica.rank, replica.stream_free)) {
    replica.on_device.push_back({task, start, replica.stream_free, 0});
    return;
  }
  Task begun{task, start, replica.stream_free, replica.core ? replica.core->begin(length) : 0};
  timers_.at(replica.stream_free, [this, &replica, begun] {
    replica.core ? poll_compute(replica, begun) : compute_done(replica, begun);
  });
}

void WorkerRun::computed(Rank rank, Clock::time_point, Clock::time_point end) {
  const auto found = std::find_if(replicas_.begin(), replicas_.end(),
                                  [&](const auto& r) { return r->rank == rank; });
  TUTTI_CHECK(found != replicas_.end() && !(*found)->on_device.empty(),
              "rank {} was not asked to compute", rank);
  Replica& replica = **found;
  Task done = replica.on_device.front();
  replica.on_device.pop_front();
  // If the device has ended this task late, its next task begins late. If the device's clock is
  // slightly ahead, the recorded end is not earlier than the planned end.
  done.start = std::max(done.start, replica.device_ended);
  done.end = replica.device_ended = std::max({done.end, end, done.start});
  replica.stream_free = std::max(replica.stream_free, done.end);
  timers_.at(done.end, [this, &replica, done] { compute_done(replica, done); });
}

/// Returns true if, by the planned times, a device is busy with computation at time `now`.
bool WorkerRun::computes(Clock::time_point now) const {
  return std::any_of(replicas_.begin(), replicas_.end(), [&](const auto& r) {
    return !r->on_device.empty() && r->on_device.front().end > now;
  });
}

std::string WorkerRun::progress_text() const {
  std::string text = collectives_->progress_text();
  for (const std::unique_ptr<Replica>& replica : replicas_) {
    if (replica->on_device.empty()) continue;
    text += fmt::format("{}{} has not completed its computation ({})", text.empty() ? "" : ", ",
                        scenario_.cluster->part_name(replica->device),
                        core::to_string(replica->on_device.front().task.kind));
  }
  return text;
}

/// Completes the task if the thread that replays it has reported its end; otherwise checks again
/// after a short time.
void WorkerRun::poll_compute(Replica& replica, Task task) {
  constexpr std::chrono::microseconds kPollInterval{50};
  const auto done = replica.core->take(task.job);
  if (!done)
    return timers_.at(Clock::now() + kPollInterval,
                      [this, &replica, task] { poll_compute(replica, task); });
  task.start = done->start;
  task.end = done->end;
  replica.stream_free = std::max(replica.stream_free, done->end);
  compute_done(replica, task);
}

void WorkerRun::compute_done(Replica& replica, const Task& done) {
  ++progress_;
  ReplicaStep& sums = replica.record();
  const bool gap = done.task.kind == ComputeKind::kHostGap;
  (done.task.kind == ComputeKind::kForward || (gap && done.task.index < 0) ? sums.forward
   : done.task.kind == ComputeKind::kBackward || gap                       ? sums.backward
                                                     : sums.other) += done.end - done.start;
  replica.exposed.computed(stamp(done.start), stamp(done.end));
  log_.computed(replica.step, replica.rank, done.task, done.start, done.end);
  // The next task of the stream begins at the end of this task, not at the time when the end was
  // detected, since a device's stream has its tasks queued.
  replica.cause = done.end;
  replica.runner.done(done.task.id, replica);
  replica.cause.reset();
}

}  // namespace tutti::real
