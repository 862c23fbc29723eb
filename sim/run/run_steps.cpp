// Handles the computation of replicas, and the beginning and the end of their training steps.

#include <algorithm>
#include <set>
#include <string>

#include <fmt/format.h>

#include "core/strategy/noise.h"
#include "sim/interpreter/state_snapshot.h"
#include "sim/run/run_state.h"

namespace tutti::sim {

using core::ComputeKind;
using core::ComputeTask;
using core::PartId;
using core::Time;

// --- replicas ---

void Run::World::compute(core::TaskId id, const core::Task& task, Time duration,
                         std::int64_t compute_bound_ppm) {
  if (const auto* graph = replica->graph)
    return run->compute(*replica, graph->streams[id],
                        {id, task, duration, graph->compute_bound_of(id)});
  run->compute(*replica, 0, {id, task, duration, compute_bound_ppm});
}

void Run::World::communicate(core::TaskId id, const core::Task& task, std::int64_t number) {
  if (replica->graph) return run->communicate_in_graph(*replica, id, task);
  replica->tasks.begun(id, task);
  if (task.pack >= 0 && run->gates_.governs(task.pack))
    return run->gates_.ready({replica->index, replica->step, task.pack}, replica->cause, run->now_);
  if (task.pack >= 0)
    return run->launch(*replica, run->collectives_.of_pack(task.pack, replica->index), task.pack);
  run->launch(
      *replica,
      run->collectives_.of_exchange(task.index, replica->tasks.occurrence(task), replica->index),
      static_cast<std::int64_t>(run->scenario_.plan.packs.size()) + number);
}

/// Executes a task that marks a pack as ready.
void Run::World::mark(const core::Task& task) {
  run->pack_records_.ready(replica->step, task.pack, run->now_);
  replica->ready = run->now_;
}

void Run::World::step_done() { run->step_done(*replica); }

void Run::set_up_replicas() {
  replicas_.reserve(cluster_.replicas());
  std::int64_t first = 0;
  for (std::size_t g = 0; g < cluster_.replica_groups(); ++g) {
    const std::int64_t count = cluster_.groups()[g].count * cluster_.replicas_per_worker();
    for (std::int64_t i = 0; i < count; ++i) {
      const PartId device = cluster_.replica(first + i);
      const core::DeviceRates& rates = cluster_.part(device).device;
      const auto index = static_cast<std::int32_t>(first + i);
      if (const auto& graph = scenario_.plan.graph) {
        const core::ExecutionGraph::Rank& rank = graph->ranks[index];
        replicas_.emplace_back(
            core::Runner(rank.program, no_durations_, {rates.copy, rates.memory}), no_program_,
            index, device);
        replicas_.back().graph = &rank;
        add_streams(replicas_.back(), rank.stream_count);
        continue;
      }
      const core::StepProgram& program = programs_.program(g);
      replicas_.emplace_back(
          core::Runner(program.program, programs_.durations(g), {rates.copy, rates.memory}),
          program, index, device);
      add_streams(replicas_.back(), 1);
    }
    first += count;
  }
  for (Replica& replica : replicas_) {
    replica.world.run = this;
    replica.world.replica = &replica;
  }
}

void Run::add_streams(Replica& replica, std::int32_t count) {
  for (std::int32_t s = 0; s < count; ++s) {
    replica.streams.emplace_back(static_cast<std::uint32_t>(stream_owners_.size()));
    stream_owners_.emplace_back(replica.index, s);
  }
}

/// Lets computation and communication on the same device slow each other down, and adds notes about
/// missing parameters. Only the first compute stream of each replica is affected.
void Run::share_devices() {
  const core::Interference how = scenario_.run.interference;
  if (how == core::Interference::kOff || scenario_.plan.packs.empty()) return;
  const core::Schedule& first = *scenario_.plan.collective(scenario_.plan.packs.front()).schedule;
  const bool kernels = first.lanes(0) > 0 && first.engine(0, 0) == core::Engine::kKernel;
  std::set<std::string> unknown;
  for (Replica& replica : replicas_) {
    const core::Part& part = cluster_.part(replica.device);
    const bool unsaid = part.kind == core::PartKind::kGpu && part.device.multiprocessors == 0;
    if (unsaid && kernels) unknown.insert(cluster_.machine(replica.device.worker).name());
    if (how != core::Interference::kOn && part.device.multiprocessors == 0) continue;
    replica.streams.front().stream.share(part);
    devices_.share(devices_.id(replica.device), replica.streams.front().stream);
  }
  for (const std::string& machine : unknown) {
    sink_.note(fmt::format(
        "machine \"{}\" does not state the number of multiprocessors of its GPUs, so communication "
        "{}",
        machine,
        how == core::Interference::kOn ? "slows computation only by using memory bandwidth"
                                       : "does not slow computation on these GPUs"));
  }
}

void Run::begin_step(Replica& replica, Time now, Cause cause) {
  replica.step_began = replica.ready = now;
  replica.forward = replica.backward = replica.other = replica.slowed = Time();
  replica.exposed.begin_step();
  for (Stream& one : replica.streams) one.stream.begin_step();
  replica.tasks.begin_step();
  replica.cause = cause;
  const core::RunOptions& run = scenario_.run;
  const std::int64_t jitter =
      core::pace_of(run.compute_jitter_ppm, run.seed, replica.index, replica.step);
  const std::int64_t noise =
      core::noisy_pace(run.conditions.compute_noise, run.seed, replica.index, replica.step);
  std::int64_t pace = jitter * noise / 1'000'000;
  if (replica.graph)
    pace = static_cast<std::int64_t>(static_cast<double>(pace) *
                                     (static_cast<double>(scenario_.plan.graph_pace_ppm) / 1e6));
  replica.runner.begin_step(pace, replica.world);
}

// --- computing ---

void Run::compute(Replica& replica, std::int32_t stream, const ComputeTask& task) {
  Stream& one = replica.streams[stream];
  one.queue.push_back({task, now_, replica.cause});
  if (one.queue.size() == 1) begin_task(replica, stream);
}

/// Starts the first task of a stream's queue.
void Run::begin_task(Replica& replica, std::int32_t stream) {
  Stream& one = replica.streams[stream];
  const auto& [task, requested, requested_by] = one.queue.front();
  const std::int32_t kind = core::SpanKind::kFirstCompute + static_cast<std::int32_t>(task.kind);
  // The cause of the task is the previous task of the stream if the task had to wait for it.
  // Otherwise, the cause is the request to start the task.
  const Cause before = now_ > requested && one.cause.node >= 0 ? one.cause : requested_by;
  const bool goes_on = task.kind == ComputeKind::kBackward && before.node >= 0 &&
                       path_.node(before.node).kind == kind &&
                       path_.node(before.node).replica == replica.index &&
                       path_.node(before.node).step == replica.step && before.until == now_;
  // The end is kNever until the task has ended.
  one.cause = {goes_on
                   ? before.node
                   : path_.add({before, kind, replica.index, replica.step, task.pack, now_, -1}),
               core::kNever, task.kind == ComputeKind::kBackward ? task.index : -1};
  // A slow device does not prolong the time for which it waits for its host.
  const DeviceFaults& faults = devices_.device_faults();
  if (task.kind == ComputeKind::kHostGap)
    one.stream.begin_idle(now_, task.duration + faults.late(replica.device, task.index), events_);
  else
    one.stream.begin(now_, faults.longer(replica.device, task.duration, now_),
                     task.compute_bound_ppm, events_);
  if (!replica.graph) return;
  // Complete the task that announces the start of this task.
  if (const core::TaskId announced = replica.graph->announcement_of(task.id);
      announced != core::kNoTask)
    replica.runner.done(announced, replica.world);
}

void Run::compute_done(const Event& event) {
  const auto [index, slot] = stream_owners_[event.a];
  Replica& replica = replicas_[index];
  Stream& stream = replica.streams[slot];
  // The worker is lost, so the task never ends.
  if (devices_.device_faults().gone(replica.device.worker, now_)) return;
  if (!stream.stream.end(event, events_)) return;
  const ComputeTask task = stream.queue.front().task;
  stream.queue.pop_front();
  const Time start = stream.stream.start();
  recorder_.compute(replica.device, slot, task, replica.step, start, now_);
  const bool gap = task.kind == ComputeKind::kHostGap;
  Time& total = task.kind == ComputeKind::kForward || (gap && task.index < 0) ? replica.forward
                : task.kind == ComputeKind::kBackward || gap                  ? replica.backward
                                                                              : replica.other;
  total += now_ - start;
  replica.exposed.computed(start, now_);
  replica.slowed += stream.stream.slowed();
  stream.cause.until = now_;
  replica.cause = stream.cause;
  if (!stream.queue.empty()) begin_task(replica, slot);
  replica.runner.done(task.id, replica.world);
}

// --- steps ---

void Run::step_done(Replica& replica) {
  if (asynchrony_) asynchrony_->step_ended(replica.index, replica.step, now_);
  const ReplicaEnd end{replica.device,
                       replica.step_began,
                       replica.ready,
                       replica.forward,
                       replica.backward,
                       replica.other,
                       replica.exposed.communication(),
                       replica.exposed.exposed(),
                       replica.slowed,
                       replica.cause};
  const auto record = step_ends_.add(replica.step, end, now_);
  if (record) end_step(*record);
  ++replica.step;
  const bool begins = asynchrony_ ? asynchrony_->begins(replica.index, replica.step)
                                  : replica.step < scenario_.run.steps;
  if (begins) begin_step(replica, now_, replica.cause);
  if (record && repetition_ && replica.step < scenario_.run.steps)
    skip_repeated_steps(replica.step);
}

void Run::end_step(const core::StepRecord& record) {
  sink_.step(record);
  if (repetition_) repetition_->tell(record);
  if (path_.is_worth_pruning()) path_.forget_before(step_ends_.last_start(), causes());
}

// --- steps that repeat ---

/// Called when the last replica has begun `step`. If this step is identical to the previous one,
/// records it and all remaining steps without simulating them.
void Run::skip_repeated_steps(std::int32_t step) {
  const bool together = flights_.empty() && messages_.empty() &&
                        std::all_of(replicas_.begin(), replicas_.end(),
                                    [&](const Replica& r) { return r.step == step; });
  if (!together) return repetition_->cannot_tell();
  Repetition::Step begun;
  for (const Replica& replica : replicas_) begun.began.push_back(now_ - replica.step_began);
  begun.at = now_;
  begun.carried = network_.loads().totals();
  begun.exchanged = exchange_times_.totals();
  auto gates = state_of_gates();
  if (!gates) return repetition_->cannot_tell();
  begun.gates = std::move(*gates);
  const Repetition::Step* const before = repetition_->begin(begun);
  if (before) repeat(*before, begun, step);
}

/// Returns the state of all gates; nullopt if the state of some gate cannot be stored.
std::optional<std::vector<std::int64_t>> Run::state_of_gates() {
  StateSnapshot snapshot =
      snapshot_of(now_, [this](core::StateVisitor& visitor) { gates_.visit_state(visitor); });
  if (!snapshot.fit) return std::nullopt;
  return std::move(snapshot.same);
}

void Run::repeat(const Repetition::Step& before, const Repetition::Step& now, std::int32_t first) {
  const std::int32_t times = scenario_.run.steps - first;
  const Time period = now.at - before.at;
  const bool fits = period == Time() || (core::kHorizon - now.at) / period >= times;
  repetition_->repeat(fits ? times * period : Time());
  if (!fits) return step_ends_.skip_to_never();
  for (std::int32_t i = 1; i <= times; ++i) {
    for (core::PackRecord pack : before.packs) {
      for (Time* const t : {&pack.ready, &pack.first_start, &pack.last_start, &pack.end})
        *t += i * period;
      pack.step += i;
      sink_.pack(pack);
    }
    core::StepRecord step = *before.step;
    step.step += i;
    step.start += i * period;
    step.end += i * period;
    sink_.step(step);
  }
  network_.carry_again(before.carried, times);
  exchange_times_.add_again(before.exchanged, times);
  step_ends_.skip(times, times * period);
  sink_.note(
      fmt::format("simulated {} of {} training steps; the other steps are identical to step {}",
                  first, scenario_.run.steps, first - 1));
}

// --- the critical path ---

/// Returns all causes that are stored anywhere in the run. Later critical paths end at one of them.
std::vector<Cause*> Run::causes() {
  std::vector<Cause*> all;
  step_ends_.add_causes(all);
  for (Replica& replica : replicas_) {
    all.push_back(&replica.cause);
    for (Stream& one : replica.streams) {
      all.push_back(&one.cause);
      for (Queued& queued : one.queue) all.push_back(&queued.requested_by);
    }
  }
  flights_.visit([&](Flight& flight) {
    for (Cause& cause : flight.causes) all.push_back(&cause);
  });
  gates_.add_causes(all);
  return all;
}

}  // namespace tutti::sim
