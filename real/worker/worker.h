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

/// What a worker's clock shows, in nanoseconds, when its monotonic clock shows this. Tests put it wrong, as the clock of
/// another machine is.
struct WorkerClock {
  std::string identity;  ///< as clock_identity(); empty: this machine's
  std::int64_t offset_ns = 0;
  std::int64_t drift_ppm = 0;

  [[nodiscard]] std::int64_t shows(std::int64_t ns) const;
  /// The other way round.
  [[nodiscard]] std::int64_t when(std::int64_t shown) const;
};

/// How a worker process finds its run.
struct WorkerJoin {
  std::function<std::optional<Appointment>()> where;
  std::int32_t worker = kAnyWorker;
  int ranks = 0;                  ///< so many were started together by a launcher, this one among them; 0: none was
  std::optional<Address> listen;  ///< where its peers reach it, instead of the address from which it joins
  std::chrono::duration<double> wait{60};  ///< for the coordinator to be there
  const std::atomic<bool>* interrupted = nullptr;
  WorkerClock clock;
  /// What this machine has left for the run. Empty: not known, or whoever started the worker has looked already.
  FreeMemory free_memory;
};

/// How a worker's life ended.
struct WorkerEnd {
  core::Expected<void> done;
  bool told = false;  ///< the coordinator, who is still there, has heard of the error or said it itself
};

/// The life of a worker process: joins, does its steps, ends when the coordinator says so or is gone; joins again if it is
/// told to. Needs no files: the plan comes from the coordinator.
/// ERRORS: anything that keeps it from that; the coordinator has been told if it could be.
WorkerEnd work(const WorkerJoin& join);

}  // namespace tutti::real
