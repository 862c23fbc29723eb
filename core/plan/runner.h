#pragma once

#include <cstdint>
#include <vector>

#include "core/plan/program.h"
#include "core/plan/task_cost.h"

namespace tutti::core {

/// The interface through which a runner starts tasks. The simulator implements Host in virtual
/// time; a real run implements Host with threads and processes.
class Host {
 public:
  virtual ~Host() = default;
  /// Queues a compute task on the replica's compute stream, which executes one task at a time. When
  /// the task is complete, the host calls Runner::done().
  virtual void compute(TaskId id, const Task& task, Time duration,
                       std::int64_t compute_bound_ppm) = 0;
  /// Lets the replica take part in the collective of `task`. When the collective is complete on
  /// this replica, the host calls Runner::done(). `number` is the sequence number in the step
  /// (Task::number), which is equal on all replicas.
  virtual void communicate(TaskId id, const Task& task, std::int64_t number) = 0;
  /// Reports that the runner has reached a mark task for which Task::reported is set.
  virtual void mark(const Task& task) = 0;
  /// Reports the end of the step. The host may begin the next training step inside this call.
  virtual void step_done() = 0;
};

/// Runs the program of one replica. A runner starts every task as soon as the rules in program.h
/// allow. The simulator and real runs use the same class. A runner is a deterministic state
/// machine: the order in which tasks complete determines its behaviour, and the times do not
/// matter.
/// Memory: 4 bytes for each task with several predecessors, and a bit for each task.
class Runner {
 public:
  /// REQUIRES: `program` and `durations` outlive the runner; the rates that the tasks' costs use
  /// are positive.
  Runner(const Program& program, const Durations& durations, const ComputeRates& rates);

  /// Starts a training step. All compute durations of the step are multiplied by `pace_ppm`
  /// millionths.
  void begin_step(std::int64_t pace_ppm, Host& host);
  /// Completes a task.
  /// REQUIRES: in this step, the runner started the task through `host`, and the task is not yet
  /// complete.
  void done(TaskId task, Host& host);

 private:
  /// A list of tasks that the runner has to visit. `next` is the position of the next task to
  /// visit.
  struct Frame {
    enum class Of : std::uint8_t {
      kSuccessors,  ///< successors of task `index`; `next` is the index of the next edge
      kWaiting,     ///< tasks that wait for latch `index` (program.h), in the order in
                    ///< which they became ready
      kEntry,       ///< the entry task of block `index`, to begin the block's next iteration
    };
    Of of;
    std::int32_t index;
    std::int32_t next;
  };

  [[nodiscard]] const Task& task(TaskId id) const { return program_->tasks[id]; }
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
  std::vector<std::int32_t> missing_;  ///< for each task with several predecessors: number of
                                       ///< incomplete predecessors
  std::vector<bool> requested_;  ///< for each task: true if the host was asked to start the task
                                 ///< and has not completed it
  std::vector<std::int32_t> iteration_;  ///< for each block: index of the current iteration
  struct Latch {
    bool open = false;
    std::vector<TaskId>
        arrived;  ///< tasks that wait for the latch, in the order in which they became ready
  };
  std::vector<Latch> latches_;
  std::vector<Frame> frames_;  ///< a stack; the innermost frame is last
};

}  // namespace tutti::core
