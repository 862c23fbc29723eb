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
  std::string identity;  ///< as clock_identity(); empty: that of this machine
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppm = 0;

  [[nodiscard]] std::int64_t shows(std::int64_t ns) const;
  /// The inverse of shows().
  [[nodiscard]] std::int64_t when(std::int64_t shown) const;
};

/// The way in which a worker process finds and joins its run.
struct WorkerJoin {
  std::function<std::optional<Appointment>()> where;
  std::int32_t worker = kAnyWorker;
  int ranks = 0;  ///< processes that a launcher started together, with this one; 0: none
  std::optional<Address>
      listen;  ///< where its peers reach it, instead of the address from which it joins
  std::chrono::duration<double> wait{60};  ///< the time limit for finding the coordinator
  const std::atomic<bool>* interrupted = nullptr;
  WorkerClock clock;
  /// The memory that this machine has left for the run. Empty: unknown, or already checked by the
  /// process that started the worker.
  FreeMemory free_memory;
};

/// The exit of a worker process.
struct WorkerEnd {
  core::Expected<void> done;
  bool told =
      false;  ///< the coordinator, which is still there, knows of the error or reported it itself
};

/// Runs a worker process: joins a run, executes its steps, and ends when the coordinator says so or
/// is gone; joins again if it gets the order to. Needs no files: the plan comes from the
/// coordinator. ERRORS: any failure; it has been reported to the coordinator if possible.
WorkerEnd work(const WorkerJoin& join);

}  // namespace tutti::real
