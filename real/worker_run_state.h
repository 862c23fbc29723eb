#pragma once

// What is inside a worker's run: for its own files (worker_run.cpp, worker_run_packs.cpp).

#include <deque>
#include <memory>
#include <optional>
#include <utility>

#include "core/timeline/exposed_time.h"
#include "real/busy_thread.h"
#include "real/worker_run.h"

namespace tutti::real {

inline CollectiveTag tag_of(std::int32_t step, std::size_t pack) {
  return {static_cast<std::uint32_t>(step), static_cast<std::uint32_t>(pack)};
}

/// Something that a compute stream is busy with.
struct WorkerRun::Task {
  core::ComputeTask task;
  Clock::time_point start, end;
  BusyThread::Job job = 0;
};

struct WorkerRun::Replica : core::DriverActions {
  Replica(WorkerRun& r, core::Driver d, core::Rank k, std::size_t i, core::PartId p)
      : run(r), driver(std::move(d)), rank(k), index(i), device(p) {}

  void compute(const core::ComputeTask& task) override { run.compute(*this, task); }
  void pack_ready(int pack) override { run.log_.ready(step, pack, run.timers_.now()); }
  void launch(int pack) override { run.launch(*this, pack); }
  void step_done() override { run.end_step(*this); }
  [[nodiscard]] ReplicaStep& record() const { return run.log_.replica(step, index); }

  WorkerRun& run;
  core::Driver driver;
  core::Rank rank;
  std::size_t index;  ///< of those of this worker
  core::PartId device;
  std::int32_t step = 0;
  Clock::time_point stream_free;
  std::deque<Task> on_device;              ///< what the device has not yet told to have ended; ends are as meant
  Clock::time_point device_ended;          ///< the last that it has told
  std::unique_ptr<BusyThread> core;        ///< if computation keeps one busy
  std::optional<Clock::time_point> cause;  ///< of what the driver asks for at the moment; now, if not set
  int in_flight = 0;
  Clock::time_point in_flight_since;
  core::ExposedTime exposed;  ///< of the step at hand, in nanoseconds (stamp())
};

}  // namespace tutti::real
