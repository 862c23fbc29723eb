#include "core/plan/column_runner.h"

#include "core/base/check.h"

namespace tutti::core {

ColumnRunner::ColumnRunner(const TaskColumns& columns, const Durations& durations,
                           const ComputeRates& rates)
    : columns_(columns), durations_(&durations), rates_(rates) {}

void ColumnRunner::begin_step(std::int64_t pace_ppm, Host& host) {
  TUTTI_CHECK(in_flight_ == 0 && missing_.size() == 0, "a step begins while {} tasks are in flight",
              in_flight_);
  ++step_;
  pace_ppm_ = pace_ppm;
  iteration_.assign(columns_.blocks.size(), 0);
  open_.assign(columns_.latch_count, false);
  arrived_.clear();
  const std::size_t base = frames_.size();
  for (const TaskId root : columns_.roots) {
    start(root, host);
    follow(base, host);
  }
}

void ColumnRunner::done(TaskId id, Host& host) {
  TUTTI_CHECK(in_flight_ > 0 && id >= 0 && id < columns_.end(),
              "task {} completes before it was started", id);
  --in_flight_;
  const std::size_t base = frames_.size();
  complete(id);
  follow(base, host);
}

void ColumnRunner::follow(std::size_t base, Host& host) {
  while (frames_.size() > base) {
    Frame& frame = frames_.back();
    switch (frame.of) {
      case Frame::Of::kSuccessors:
        if (frame.next == columns_.edges_end[frame.index])
          frames_.pop_back();
        else
          arrive(columns_.successors[frame.next++], host);
        break;
      case Frame::Of::kWaiting: {
        const auto found = arrived_.find(frame.index);
        if (found == arrived_.end() || frame.next == std::ssize(found->second)) {
          if (found != arrived_.end()) arrived_.erase(found);
          frames_.pop_back();
        } else {
          start(found->second[frame.next++], host);
        }
        break;
      }
      case Frame::Of::kEntry: {
        const TaskId entry = columns_.blocks[frame.index].entry;
        frames_.pop_back();
        start(entry, host);
        break;
      }
    }
  }
}

void ColumnRunner::arrive(TaskId id, Host& host) {
  if (const std::int32_t predecessors = columns_.predecessors[id]; predecessors > 1) {
    std::int32_t* const missing = missing_.find(id);
    if (!missing) return missing_.insert(id, predecessors - 1);
    if (--*missing > 0) return;
    missing_.erase(id);
  }
  if (const std::int32_t h = columns_.latch(id); h >= 0 && !open_[h])
    return arrived_[h].push_back(id);
  start(id, host);
}

void ColumnRunner::start(TaskId id, Host& host) {
  if (id == columns_.end()) return host.step_done();
  const Task task = columns_.task(id);
  const bool takes_part = task.every_steps == 1 || (step_ + 1) % task.every_steps == 0;
  if (!takes_part) return complete(id);
  switch (task.kind) {
    case Task::Kind::kMark:
      if (task.reported) host.mark(task);
      return complete(id);
    case Task::Kind::kCompute:
      ++in_flight_;
      return host.compute(id, task,
                          duration_of(task.cost, pace_ppm_, *durations_, rates_, columns_.shares,
                                      columns_.share_whole),
                          compute_bound_of(task.cost, *durations_));
    case Task::Kind::kCommunicate: {
      ++in_flight_;
      std::int64_t number = task.number;
      if (task.number_stride != 0) {
        const std::size_t block = columns_.block_of(id);
        number += std::int64_t{task.number_stride} * iteration_[block];
      }
      return host.communicate(id, task, number);
    }
  }
}

void ColumnRunner::complete(TaskId id) {
  if (const std::int32_t b = columns_.blocks.empty() ? -1 : columns_.block_of(id); b >= 0) {
    const Block& block = columns_.blocks[b];
    if (id == block.exit && ++iteration_[b] < block.repeat)
      return frames_.push_back({0, b, Frame::Of::kEntry});
  }
  frames_.push_back({columns_.first_edge(id), id, Frame::Of::kSuccessors});
  if (const std::int32_t h = columns_.opened(id); h >= 0) {
    open_[h] = true;
    frames_.push_back({0, h, Frame::Of::kWaiting});
  }
}

std::size_t ColumnRunner::bytes() const {
  std::size_t bytes = missing_.bytes() + iteration_.capacity() * sizeof(std::int32_t) +
                      open_.capacity() / 8 + frames_.capacity() * sizeof(Frame);
  for (const auto& [latch, tasks] : arrived_) bytes += tasks.capacity() * sizeof(TaskId) + 48;
  return bytes;
}

}  // namespace tutti::core
