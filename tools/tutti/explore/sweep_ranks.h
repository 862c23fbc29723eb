#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/explore/outcome.h"
#include "tools/tutti/join.h"

namespace tutti::tools {

/// A sweep that several processes, started by mpirun, srun or torchrun, work on together.
struct SharedSweep {
  /// Properties that all ranks must have in common: the version, the scenario's text, the axes.
  std::string identity;
  int threads = 1;  ///< threads of this process
  std::function<std::optional<core::Outcome>(std::int64_t point, const std::atomic<bool>& stop)>
      work;                    ///< called on any thread
  std::function<bool()> stop;  ///< polled on the calling thread
  std::int64_t points = 0;     ///< number of points of the sweep, whose indices are below this
  /// A rank that is silent for this long has failed. The value in use is never below the one that
  /// real::longest_silence() derives from it.
  std::chrono::duration<double> timeout{60};
};

/// Returns the digest of a sweep that each rank sends when it joins, so that all work on the same
/// sweep.
std::string sweep_digest(const std::string& identity);

/// Runs on rank 0: assigns `points` one by one to itself and to the ranks that join, and collects
/// the outcomes. Points of ranks that die or fall silent are assigned to others. Returns true if
/// all are completed. `take`: as in sim::CrowdWork.
/// ERRORS: it cannot listen, or cannot publish its address to the others.
core::Expected<bool> lead_sweep(
    PartInRun& part, const SharedSweep& sweep, const std::vector<std::int64_t>& points,
    const std::function<bool(std::int64_t, const core::Outcome&)>& take);

/// Runs on the other ranks: requests points from rank 0 until there are no more, or until rank 0
/// has given up on this rank because it was silent for too long (which is reported on stderr, and
/// is not a failure of the sweep). Returns false if it was interrupted.
/// ERRORS: rank 0 is not there, disappears or falls silent; it works on another sweep.
core::Expected<bool> help_sweep(const PartInRun& part, const SharedSweep& sweep);

}  // namespace tutti::tools
