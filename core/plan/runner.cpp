#include "core/plan/runner.h"

#include "core/base/check.h"

namespace tutti::core {

Runner::Runner(const Program& program, const Durations& durations, const ComputeRates& rates)
    : program_(&program),
      durations_(&durations),
      rates_(rates),
      requested_(program.tasks.size(), false),
      latches_(program.latches) {}

void Runner::begin_step(std::int64_t pace_ppm, Host& host) {
  ++step_;
  pace_ppm_ = pace_ppm;
  missing_ = program_->predecessors;
  iteration_.assign(program_->blocks.size(), 0);
  for (Latch& latch : latches_) {
    latch.open = false;
    latch.arrived.clear();
  }
  const std::size_t base = frames_.size();
  for (const TaskId root : program_->roots) {
    start(root, host);
    follow(base, host);
  }
}

void Runner::done(TaskId id, Host& host) {
  TUTTI_CHECK(requested_[id], "task {} completes before it was started, or twice", id);
  requested_[id] = false;
  const std::size_t base = frames_.size();
  complete(id);
  follow(base, host);
}

/// Processes frames until the stack has only `base` frames left. The host's functions may call this
/// runner again.
void Runner::follow(std::size_t base, Host& host) {
  while (frames_.size() > base) {
    Frame& frame = frames_.back();
    switch (frame.of) {
      case Frame::Of::kSuccessors:
        if (frame.next == program_->first_edge[frame.index + 1])
          frames_.pop_back();
        else
          arrive(program_->successors[frame.next++], host);
        break;
      case Frame::Of::kWaiting: {
        const std::vector<TaskId>& arrived = latches_[frame.index].arrived;
        if (frame.next == static_cast<std::int32_t>(arrived.size()))
          frames_.pop_back();
        else
          start(arrived[frame.next++], host);
        break;
      }
      case Frame::Of::kEntry: {
        const TaskId entry = program_->blocks[frame.index].entry;
        frames_.pop_back();
        start(entry, host);
        break;
      }
    }
  }
}

/// Records that one more predecessor of the task is complete, and starts the task after its last
/// predecessor.
void Runner::arrive(TaskId id, Host& host) {
  const std::int32_t join = program_->join[id];
  if (join >= 0 && --missing_[join] > 0) return;
  if (const std::int32_t h = task(id).latch; h >= 0 && !latches_[h].open)
    return latches_[h].arrived.push_back(id);
  start(id, host);
}

void Runner::start(TaskId id, Host& host) {
  const Task& t = task(id);
  if (id == program_->end) return host.step_done();
  if (!takes_part(t)) return complete(id);
  switch (t.kind) {
    case Task::Kind::kMark:
      if (t.reported) host.mark(t);
      return complete(id);
    case Task::Kind::kCompute:
      requested_[id] = true;
      return host.compute(id, t,
                          duration_of(t.cost, pace_ppm_, *durations_, rates_, program_->shares,
                                      program_->share_whole),
                          compute_bound_of(t.cost, *durations_));
    case Task::Kind::kCommunicate: {
      requested_[id] = true;
      std::int64_t number = t.number;
      if (t.number_stride > 0) {
        const std::int32_t block = program_->block_of(id);
        number += std::int64_t{t.number_stride} * iteration_[block];
      }
      return host.communicate(id, t, number);
    }
  }
}

/// Pushes a frame onto the stack for the tasks that wait for the completed task.
void Runner::complete(TaskId id) {
  for (std::size_t b = 0; b < program_->blocks.size(); ++b) {
    const Block& block = program_->blocks[b];
    if (id != block.exit || ++iteration_[b] == block.repeat) continue;
    for (std::int32_t j = block.joins.first; j < block.joins.first + block.joins.count; ++j)
      missing_[j] = program_->predecessors[j];
    frames_.push_back({Frame::Of::kEntry, static_cast<std::int32_t>(b), 0});
    return;
  }
  frames_.push_back({Frame::Of::kSuccessors, id, program_->first_edge[id]});
  if (const std::int32_t h = task(id).opens; h >= 0) {
    latches_[h].open = true;
    frames_.push_back({Frame::Of::kWaiting, h, 0});
  }
}

bool Runner::takes_part(const Task& t) const {
  return t.every_steps == 1 || (t.every_steps > 0 && (step_ + 1) % t.every_steps == 0);
}

}  // namespace tutti::core
