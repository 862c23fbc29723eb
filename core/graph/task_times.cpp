// Determines the time of every task in a replica's training step, and the tasks on the critical
// path, so that a drawing of the task graph can show both. There are two sources of times: given
// durations and a recorded run. With given durations, Runner executes the program in virtual time:
// compute tasks share one stream, and collectives start immediately. For each execution of a task,
// the code stores the execution whose completion started it (its cause). The critical path is the
// chain of causes that ends at the last execution.
//
// The spans of a recorded run do not state task numbers. Spans are therefore matched by a label
// (kind, pack and index): the n-th span with a label belongs to the n-th execution of a task with
// this label, in program order. A task without a span gets the time at which all its predecessors
// were complete.

#include "core/graph/task_times.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <queue>
#include <tuple>

#include <fmt/format.h>

namespace tutti::core {
namespace {

std::size_t entry(std::int64_t index) { return static_cast<std::size_t>(index); }

/// The maximum number of executed iterations of a repeated block. More iterations would not change
/// the critical path.
constexpr std::int32_t kMaxIterations = 256;

/// Executes the program of one device in virtual time.
class OnDurations : public Host {
 public:
  OnDurations(const Program& program, const std::function<Time(const Task&)>& duration)
      : duration_(duration), latest_(program.tasks.size(), -1) {
    times.of.resize(program.tasks.size());
    times.on_path.assign(program.tasks.size(), false);
  }

  void compute(TaskId id, const Task&, Time duration, std::int64_t) override {
    const bool waits = stream_free_ > now_;
    start(id, std::max(now_, stream_free_), duration, waits ? last_on_stream_ : cause_);
    stream_free_ = instances_.back().end;
    last_on_stream_ = std::ssize(instances_) - 1;
  }
  void communicate(TaskId id, const Task& task, std::int64_t) override {
    start(id, now_, duration_(task), cause_);
  }
  void mark(const Task&) override {}
  void step_done() override {
    times.step = now_;
    for (std::int64_t i = cause_; i >= 0; i = instances_[entry(i)].cause)
      times.on_path[entry(instances_[entry(i)].task)] = true;
  }

  void run(Runner& runner) {
    runner.begin_step(1'000'000, *this);
    while (!due_.empty()) {
      const auto [at, instance] = due_.top();
      due_.pop();
      now_ = at;
      cause_ = instance;
      runner.done(instances_[entry(instance)].task, *this);
    }
  }

  TaskTimes times;

 private:
  struct Instance {
    TaskId task;
    Time end;
    std::int64_t cause;  ///< index of the execution whose completion started this execution; -1:
                         ///< none
  };

  void start(TaskId id, Time from, Time duration, std::int64_t cause) {
    TaskTimes::Interval& interval = times.of[entry(id)];
    if (latest_[entry(id)] < 0) interval.start = from;
    interval.end = from + duration;
    interval.busy += duration;
    latest_[entry(id)] = std::ssize(instances_);
    due_.emplace(interval.end, std::ssize(instances_));
    instances_.push_back({id, interval.end, cause});
  }

  const std::function<Time(const Task&)>& duration_;
  std::vector<std::int64_t> latest_;  ///< for each task: the index of its latest execution
  std::vector<Instance> instances_;
  std::priority_queue<std::pair<Time, std::int64_t>, std::vector<std::pair<Time, std::int64_t>>,
                      std::greater<>>
      due_;
  Time now_, stream_free_;
  std::int64_t cause_ = -1, last_on_stream_ = -1;
};

/// Marks, and tasks that did not run, get the time at which all their predecessors were complete.
void set_reached(const Program& program, const std::vector<bool>& ran, TaskTimes& times) {
  std::vector<std::int32_t> missing(program.tasks.size(), 0);
  for (const TaskId to : program.successors) ++missing[entry(to)];
  std::vector<TaskId> open = program.roots;
  while (!open.empty()) {
    const TaskId t = open.back();
    open.pop_back();
    for (std::int32_t e = program.first_edge[entry(t)]; e < program.first_edge[entry(t) + 1]; ++e) {
      const TaskId to = program.successors[entry(e)];
      if (!ran[entry(to)]) {
        TaskTimes::Interval& reached = times.of[entry(to)];
        reached.start = reached.end = std::max(reached.end, times.of[entry(t)].end);
      }
      if (--missing[entry(to)] == 0) open.push_back(to);
    }
  }
}

/// The label (kind, pack, index) by which spans are matched with tasks.
using SpanLabel = std::tuple<std::int32_t, std::int32_t, std::int64_t>;

SpanLabel label_of_span(const Span& span) {
  if (span.kind == SpanKind::kPackInFlight) return {span.kind, span.pack, -1};
  if (span.kind == SpanKind::kExchange) return {span.kind, -1, span.index};
  return {span.kind, span.pack, span.index};
}

SpanLabel span_label_of(const Task& task) {
  if (task.kind == Task::Kind::kCommunicate)
    return task.pack >= 0 ? SpanLabel{SpanKind::kPackInFlight, task.pack, -1}
                          : SpanLabel{SpanKind::kExchange, -1, task.index};
  return {SpanKind::kFirstCompute + static_cast<std::int32_t>(task.compute), task.pack,
          std::max(task.index, 0)};
}

/// Calls `visit` for each execution of each task, in the order of task numbers. Blocks are
/// repeated.
template <class Visit>
void each_instance(const Program& program, const Visit& visit) {
  std::size_t block = 0;
  for (TaskId t = 0; t < program.size();) {
    if (block < program.blocks.size() && program.blocks[block].tasks.first == t) {
      const Block& b = program.blocks[block++];
      for (std::int32_t i = 0; i < b.repeat; ++i) {
        for (TaskId in = b.tasks.first; in < b.tasks.first + b.tasks.count; ++in) visit(in);
      }
      t += b.tasks.count;
    } else {
      visit(t++);
    }
  }
}

}  // namespace

TaskTimes times_by_durations(const Program& program, const Durations& durations,
                             const ComputeRates& rates,
                             const std::function<Time(const Task&)>& duration) {
  Program limited = program;
  bool is_limited = false;
  for (Block& block : limited.blocks) {
    is_limited |= block.repeat > kMaxIterations;
    block.repeat = std::min(block.repeat, kMaxIterations);
  }
  // The drawing shows all tasks, even those that run only in some of the steps.
  for (Task& task : limited.tasks) task.every_steps = 1;
  Runner runner(limited, durations, rates);
  OnDurations host(limited, duration);
  host.run(runner);
  std::vector<bool> ran;
  for (const Task& task : program.tasks) ran.push_back(task.kind != Task::Kind::kMark);
  set_reached(program, ran, host.times);
  host.times.source = "computed from the known durations, without a simulation";
  if (is_limited)
    host.times.source += fmt::format(", with at most {} iterations of a block", kMaxIterations);
  return std::move(host.times);
}

void StepSpans::track(const Track& track) {
  if (track.kind != TrackKind::kLane) device_of_[track.id] = {track.worker, track.device};
}

void StepSpans::span(TrackId track, const Span& span) {
  const auto device = device_of_.find(track);
  if (device == device_of_.end()) return;
  if (span.kind < SpanKind::kFirstCompute || span.kind == SpanKind::kChannel) return;
  std::vector<Span>& spans = devices_[device->second];
  // Drops the spans of all earlier steps.
  if (spans.size() > 4096 && spans.front().step < last_.step && spans.size() % 1024 == 0)
    std::erase_if(spans, [this](const Span& old) { return old.step < last_.step; });
  spans.push_back(span);
}

std::pair<std::int32_t, std::string> StepSpans::device() const {
  const auto computes = [](std::int32_t kind) {
    return kind >= SpanKind::kFirstCompute && kind < SpanKind::kPackInFlight;
  };
  std::map<std::string, Time> on_path;
  for (const PathPiece& piece : path_) {
    if (computes(piece.kind)) on_path[piece.device] += piece.end - piece.start;
  }
  std::optional<Device> best;
  Time most(-1);
  for (const auto& [device, spans] : devices_) {
    if (std::none_of(spans.begin(), spans.end(), [&](const Span& s) { return computes(s.kind); }))
      continue;
    const auto found = on_path.find(fmt::format("w{}/{}", device.first, device.second));
    const Time here = found == on_path.end() ? Time() : found->second;
    if (here > most) most = here, best = device;
  }
  return best.value_or(devices_.begin()->first);
}

TaskTimes StepSpans::task_times(const Program& program,
                                const std::function<std::string(const Task&)>& communicator) const {
  const Device drawn = device();
  std::map<SpanLabel, std::deque<const Span*>> spans;
  for (const Span& span : devices_.at(drawn)) {
    if (span.step == last_.step) spans[label_of_span(span)].push_back(&span);
  }
  for (auto& [label, all] : spans) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Span* a, const Span* b) { return a->start < b->start; });
  }
  TaskTimes times;
  times.of.resize(program.tasks.size());
  times.on_path.assign(program.tasks.size(), false);
  times.step = last_.end - last_.start;
  // If replicas are asynchronous, a replica may begin a step before another replica has ended the
  // previous step.
  Time origin = last_.start;
  for (const auto& [label, all] : spans) origin = std::min(origin, all.front()->start);
  std::vector<bool> ran(program.tasks.size(), false);
  each_instance(program, [&](TaskId t) {
    if (program.tasks[entry(t)].kind == Task::Kind::kMark) return;
    const auto found = spans.find(span_label_of(program.tasks[entry(t)]));
    if (found == spans.end() || found->second.empty()) return;
    const Span& span = *found->second.front();
    found->second.pop_front();
    TaskTimes::Interval& interval = times.of[entry(t)];
    if (!ran[entry(t)]) interval.start = span.start - origin;
    interval.end = span.start + span.duration - origin;
    interval.busy += span.duration;
    ran[entry(t)] = true;
  });
  set_reached(program, ran, times);
  for (TaskId t = 0; t < program.size(); ++t) {
    const Task& task = program.tasks[entry(t)];
    if (!ran[entry(t)]) continue;
    const SpanLabel label = span_label_of(task);
    const TaskTimes::Interval& interval = times.of[entry(t)];
    for (const PathPiece& piece : path_) {
      if (piece.kind != std::get<0>(label)) continue;
      if (piece.kind == SpanKind::kExchange && piece.layer != communicator(task)) continue;
      if (piece.pack != task.pack) continue;
      // Each pack has only one task per step, so its label is enough. A task without a pack is on
      // the critical path if its time overlaps with a piece of the path.
      const Time from = std::max(piece.start - origin, interval.start),
                 to = std::min(piece.end - origin, interval.end);
      if (task.pack >= 0 || from < to) times.on_path[entry(t)] = true;
    }
  }
  times.source = fmt::format("simulated, step {} on w{}/{}", last_.step, drawn.first, drawn.second);
  return times;
}

}  // namespace tutti::core
