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

/// A sweep that several processes do together, started by mpirun, srun or torchrun.
struct SharedSweep {
  std::string identity;  ///< what all of them must have in common: the version, the scenario's text, what varies
  int threads = 1;       ///< of this process
  std::function<std::optional<core::Outcome>(std::int64_t point, const std::atomic<bool>& stop)>
      work;                    ///< on any thread
  std::function<bool()> stop;  ///< on the calling thread, now and then
  std::int64_t points = 0;     ///< of the sweep: their numbers are below this
  /// A rank of which nothing is heard for so long has failed; never less than real::longest_silence() makes of it.
  std::chrono::duration<double> timeout{60};
};

/// What a rank says of its sweep when it comes, so that all do the same one.
std::string sweep_digest(const std::string& identity);

/// Rank 0: gives out `points` one by one, to itself and to whoever comes, and takes what comes of them. Points of ranks that die or
/// fall silent go to others. Answers whether all are done. `take`: as of sim::CrowdWork.
/// ERRORS: it cannot listen, or cannot tell the others where.
core::Expected<bool> lead_sweep(PartInRun& part, const SharedSweep& sweep, const std::vector<std::int64_t>& points,
                                const std::function<bool(std::int64_t, const core::Outcome&)>& take);

/// Any other rank: asks rank 0 for points until there are no more, or rank 0 has given up on it since it was silent for too
/// long (which it says on stderr, and is no failure of the sweep). Answers false if it was interrupted.
/// ERRORS: rank 0 is not there, goes away or falls silent; it does another sweep.
core::Expected<bool> help_sweep(const PartInRun& part, const SharedSweep& sweep);

}  // namespace tutti::tools
