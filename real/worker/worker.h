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
  /// The machine's identity, as from clock_identity(); empty: that of this machine.
  std::string identity;
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
  /// Number of processes that a launcher started together, including this one; 0: no launcher.
  int ranks = 0;
  std::optional<Address>
      listen;  ///< address for its peers, if it differs from the one by which it joins
  std::chrono::duration<double> wait{60};  ///< time limit for finding the coordinator
  const std::atomic<bool>* interrupted = nullptr;
  WorkerClock clock;
  /// The memory that this machine has left for the run. Empty: unknown, or already checked by the
  /// process that started the worker.
  FreeMemory free_memory;
};

/// The exit of a worker process.
struct WorkerEnd {
  core::Expected<void> done;
  /// True: the coordinator is still there, and knows of the error or reported it itself.
  bool told = false;
};

/// Runs a worker process: joins a run, executes its steps, and ends when the coordinator says so or
/// is gone; joins again if it gets the order to. Needs no files: the plan comes from the
/// coordinator. ERRORS: any failure; it has been reported to the coordinator if possible.
WorkerEnd work(const WorkerJoin& join);

}  // namespace tutti::real
