#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "real/join/meeting.h"
#include "real/worker/memory_need.h"

namespace tutti::real {

/// Converts a time of a worker's monotonic clock to the time that the worker reports, in
/// nanoseconds. Tests set offset and drift, to emulate the clock of another machine.
struct WorkerClock {
  /// The identity of the clock, in the format of clock_identity(); empty: the identity of this
  /// machine's clock.
  std::string identity;
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppm = 0;

  [[nodiscard]] std::int64_t shows(std::int64_t ns) const;
  /// The inverse of shows().
  [[nodiscard]] std::int64_t when(std::int64_t shown) const;
};

/// The options of a worker process for joining its run.
struct WorkerJoin {
  std::function<std::optional<Appointment>()> where;
  std::int32_t worker = kAnyWorker;
  /// The number of processes that a launcher started together, including this one; 0: there is no
  /// launcher.
  int ranks = 0;
  /// The address at which peers reach this worker, if it differs from the address from which the
  /// worker joins.
  std::optional<Address> listen;
  std::chrono::duration<double> wait{60};  ///< time limit for finding the coordinator
  /// The settings of TLS of the run; null: no TLS.
  std::shared_ptr<const TlsContext> tls;
  const std::atomic<bool>* interrupted = nullptr;
  WorkerClock clock;
  /// Returns the free memory of this machine for the run. If this function is empty, the free
  /// memory is unknown, or was already checked by the process that started this worker.
  FreeMemory free_memory;
};

/// The result of a worker process.
struct WorkerEnd {
  core::Expected<void> done;
  /// True: the coordinator is alive and knows the error, so this process need not print it.
  bool reported = false;
};

/// Runs a worker process. Joins a run, executes its steps, and ends when the coordinator requests
/// the end or is gone. Joins another run if the coordinator requests another run. A worker needs no
/// files, because the coordinator sends the scenario and its files. ERRORS: any failure, which was
/// reported to the coordinator if possible.
WorkerEnd work(const WorkerJoin& join);

}  // namespace tutti::real
