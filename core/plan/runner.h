#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/program.h"
#include "core/plan/task_cost.h"

namespace tutti::core {

/// The environment of a runner: virtual in the simulator, clocks and processes in a real run.
class Host {
 public:
  virtual ~Host() = default;
  /// Queues a compute task on the replica's compute stream, which runs one task at a time;
  /// Runner::done follows.
  virtual void compute(TaskId id, const Task& task, Time duration,
                       std::int64_t compute_bound_ppm) = 0;
  /// The replica joins the collective of `task`; Runner::done follows. `number`: the index among
  /// the numbered communications of the step (Task::number), the same on all replicas.
  virtual void communicate(TaskId id, const Task& task, std::int64_t number) = 0;
  /// A reported mark is reached.
  virtual void mark(const Task& task) = 0;
  /// The step is over. The next one may begin inside this call.
  virtual void step_done() = 0;
};

/// Decides what one replica does next: starts every task of its program as soon as the rules in
/// program.h allow. Simulated and real replicas share it. A deterministic state machine: it sees no
/// times, only the order of completions.
/// Memory: 4 bytes for each task with several predecessors, and a bit for each task.
class Runner {
 public:
  /// REQUIRES: `program` and `durations` outlive the runner; the rates that its costs use are
  /// positive.
  Runner(const Program& program, const Durations& durations, const ComputeRates& rates);

  /// Starts a step. `pace_ppm`: its compute time relative to the nominal one; 1'000'000 = nominal.
  void begin_step(std::int64_t pace_ppm, Host& host);
  /// Completes a task. REQUIRES: it was requested from the host in this step, and it is not yet
  /// complete.
  void done(TaskId task, Host& host);

 private:
  /// A list of tasks still to be visited, from `next` on.
  struct Frame {
    enum class Of : std::uint8_t {
      kSuccessors,  ///< successors of task `index`; `next` is the index of the next edge
      kHeld,        ///< tasks that wait for hold `index`, in order of arrival
      kEntry,       ///< the entry of block `index`, for its next iteration
    };
    Of of;
    std::int32_t index;
    std::int32_t next;
  };

  [[nodiscard]] const Task& task(TaskId id) const {
    return program_->tasks[static_cast<std::size_t>(id)];
  }
  [[nodiscard]] bool takes_part(const Task& task) const;

  void arrive(TaskId id, Host& host);
  void start(TaskId id, Host& host);
  void complete(TaskId id);
  void follow(std::size_t base, Host& host);

  const Program* program_;
  const Durations* durations_;
  ComputeRates rates_;

  std::int32_t step_ = -1;
  std::int64_t pace_ppm_ = 1'000'000;
  std::vector<std::int32_t> missing_;  ///< by join: number of incomplete predecessors
  std::vector<bool> asked_;  ///< by task: true if requested from the host and not complete
  std::vector<std::int32_t> iteration_;  ///< by block: index of the current iteration
  struct Hold {
    bool open = false;
    std::vector<TaskId>
        arrived;  ///< tasks that wait for the hold, in the order in which they became ready
  };
  std::vector<Hold> holds_;
  std::vector<Frame> frames_;  ///< a stack: the innermost is last
};

}  // namespace tutti::core
