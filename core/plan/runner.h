#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/program.h"
#include "core/plan/task_cost.h"

namespace tutti::core {

/// The world as a runner sees it: virtual in the simulator, clocks and processes in a real run.
class Host {
 public:
  virtual ~Host() = default;
  /// Queues a compute task on the replica's compute stream, which does one task after the other; Runner::done follows.
  virtual void compute(TaskId id, const Task& task, Time duration, std::int64_t compute_bound_ppm) = 0;
  /// The replica takes part in the collective of `task` from now on; Runner::done follows. `number`: its place among the
  /// communications of the step that are numbered (Task::number), the same on all replicas.
  virtual void communicate(TaskId id, const Task& task, std::int64_t number) = 0;
  /// A reported mark is reached.
  virtual void mark(const Task& task) = 0;
  /// The step is over. The next one may begin inside this call.
  virtual void step_done() = 0;
};

/// Says what one replica does next: starts every task of its program as soon as the rules in program.h allow. The same for
/// a simulated and a real replica. A deterministic state machine: it knows no time, only the order of completions.
/// Memory: 4 bytes for each task with several predecessors, and a bit for each task.
class Runner {
 public:
  /// REQUIRES: `program` and `durations` outlive the runner; the rates that its costs use are positive.
  Runner(const Program& program, const Durations& durations, const ComputeRates& rates);

  /// Starts a step. `pace_ppm`: how much slower (or faster) the replica computes in it; 1'000'000 = as stated.
  void begin_step(std::int64_t pace_ppm, Host& host);
  /// A task that the host was asked for is complete. REQUIRES: it was asked for in this step, and not yet complete.
  void done(TaskId task, Host& host);

 private:
  /// Tasks that are still to be looked at, from `next` on.
  struct Frame {
    enum class Of : std::uint8_t {
      kSuccessors,  ///< of task `index`; `next` is an edge
      kHeld,        ///< tasks that hold `index` kept, in the order of their arrival
      kEntry,       ///< the entry of block `index`, for its next iteration
    };
    Of of;
    std::int32_t index;
    std::int32_t next;
  };

  [[nodiscard]] const Task& task(TaskId id) const { return program_->tasks[static_cast<std::size_t>(id)]; }
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
  std::vector<std::int32_t> missing_;    ///< by join: predecessors that are not complete
  std::vector<bool> asked_;              ///< by task: the host was asked for it, and it is not complete
  std::vector<std::int32_t> iteration_;  ///< by block
  struct Hold {
    bool open = false;
    std::vector<TaskId> arrived;  ///< what waits for it, in the order in which it became ready
  };
  std::vector<Hold> holds_;
  std::vector<Frame> frames_;  ///< a stack: the innermost is last
};

}  // namespace tutti::core
