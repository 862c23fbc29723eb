#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "real/join/meeting.h"
#include "real/worker/memory_need.h"

namespace tutti::real {

/// Converts a worker's monotonic clock to the time that it reports, in nanoseconds. Tests set
/// offset and drift to emulate the clock of another machine.
struct WorkerClock {
  /// The identity of the clock, as from clock_identity(); empty: that of this machine.
  std::string identity;
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppm = 0;

  [[nodiscard]] std::int64_t shows(std::int64_t ns) const;
  /// The inverse of shows().
  [[nodiscard]] std::int64_t when(std::int64_t shown) const;
};

/// Options for how a worker process finds and joins its run.
struct WorkerJoin {
  std::function<std::optional<Appointment>()> where;
  std::int32_t worker = kAnyWorker;
  /// The number of processes that a launcher started together, including this one; 0: there is no
  /// launcher.
  int ranks = 0;
  /// The address at which peers reach this worker, if it differs from the one by which the worker
  /// joins.
  std::optional<Address> listen;
  std::chrono::duration<double> wait{60};  ///< time limit for finding the coordinator
  const std::atomic<bool>* interrupted = nullptr;
  WorkerClock clock;
  /// Returns the memory that this machine has left for the run. Empty: unknown, or already checked
  /// by the process that started the worker.
  FreeMemory free_memory;
};

/// The result of a worker process.
struct WorkerEnd {
  core::Expected<void> done;
  /// True: the coordinator is still alive, and knows the error or has reported it itself.
  bool told = false;
};

/// Runs a worker process. Joins a run, executes its steps, and ends when the coordinator requests
/// it or is gone. Joins another run if the coordinator requests that. Needs no files, since the
/// plan comes from the coordinator. ERRORS: any failure, which was reported to the coordinator if
/// possible.
WorkerEnd work(const WorkerJoin& join);

}  // namespace tutti::real
