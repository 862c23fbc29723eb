#pragma once

// Inner classes of WorkerRun. Included only by worker_run.cpp and worker_run_packs.cpp.

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "core/timeline/exposed_time.h"
#include "real/process/busy_thread.h"
#include "real/worker/worker_run.h"

namespace tutti::real {

inline CollectiveTag tag_of(std::int32_t step, std::size_t pack) {
  return {static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(pack)};
}

/// A computation task in execution on a replica's compute stream, with its planned or actual times.
struct WorkerRun::Task {
  core::ComputeTask task;
  Clock::time_point start, end;
  BusyThread::Job job = 0;
};

struct WorkerRun::Replica : core::Host {
  Replica(WorkerRun& r, core::Runner n, const core::StepProgram& t, core::Rank k, std::size_t i,
          core::PartId p)
      : run(r), runner(std::move(n)), tasks(t), rank(k), index(i), device(p) {}

  void compute(core::TaskId id, const core::Task& task, core::Time duration,
               std::int64_t compute_bound_ppm) override {
    run.compute(*this, {id, task, duration, compute_bound_ppm});
  }
  /// Launches a pack. Real runs have no exchanges, because tcp_executor.cpp rejects scenarios with
  /// exchanges.
  void communicate(core::TaskId id, const core::Task& task, std::int64_t) override {
    tasks.begun(id, task);
    run.launch(*this, task.pack);
  }
  void mark(const core::Task& task) override { run.log_.ready(step, task.pack, run.timers_.now()); }
  void step_done() override { run.end_step(*this); }
  [[nodiscard]] ReplicaStep& record() const { return run.log_.replica(step, index); }

  WorkerRun& run;
  core::Runner runner;
  core::CommunicationTasks tasks;
  core::Rank rank;
  std::size_t index;  ///< index among the replicas of this worker
  core::PartId device;
  std::int32_t step = 0;
  Clock::time_point stream_free;
  /// Tasks that were given to the device, and whose end the device has not reported. Task::end is
  /// the planned end of the task.
  std::deque<Task> on_device;
  Clock::time_point device_ended;    ///< latest end that the device has reported
  std::unique_ptr<BusyThread> core;  ///< null if computation does not keep a core busy
  /// The earliest possible beginning of the tasks that the runner starts now, such as the end of
  /// the previous task; nullopt: the current time.
  std::optional<Clock::time_point> cause;
  int in_flight = 0;
  Clock::time_point in_flight_since;
  core::ExposedTime exposed;  ///< exposed communication in the current step, in ns (stamp())
};

}  // namespace tutti::real
