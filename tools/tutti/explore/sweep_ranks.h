#pragma once

// The protocol between rank 0 and the other ranks. Messages are texts with a length and an
// authentication code (real/wire/frame.h), over connections whose handshake is complete
// (real/join).
//
//     another rank                        rank 0
//       "hello RANK LINES DIGEST" ──▶
//                               ◀──       "point N", "end", or "no WHY"
//       "done N\n" + outcome    ──▶
//                               ◀──       "point N", …
//
// A rank has a connection for each of its threads. Each thread processes one point at a time. LINES
// is the number of connections of the rank. When the last connection of the last rank has said
// hello, rank 0 closes its listener. Twice a second, the main thread of every rank sends "alive" on
// all connections of the rank. Rank 0 sends "alive" to the connections that wait for a point. If a
// connection ends without a result, or is silent for too long, the connection's point is assigned
// again. Rank 0 sends "late" before it closes a silent connection. Therefore, if a rank was
// suspended and resumes, it knows that other ranks have its points, and that its results are
// rejected.

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

/// A sweep that several processes, started by mpirun, srun or torchrun, execute together.
struct SharedSweep {
  /// The properties that must be equal on all ranks: the version, the scenario's text, the axes.
  std::string identity;
  int threads = 1;  ///< threads of this process
  std::function<std::optional<core::Outcome>(std::int64_t point, const std::atomic<bool>& stop)>
      work;  ///< called on any thread
  /// Returns true if the user has interrupted the sweep; polled on the calling thread.
  std::function<bool()> stop;
  std::int64_t points = 0;  ///< the number of points of the sweep
  /// The timeout. A rank that sends nothing for real::longest_silence(timeout) counts as failed.
  std::chrono::duration<double> timeout{60};
};

/// Returns the digest of a sweep. Each rank sends the digest when it joins, so that all ranks
/// execute the same sweep.
std::string sweep_digest(const std::string& identity);

/// Runs on rank 0. Assigns `points` one by one to this process and to the ranks that join, and
/// collects the outcomes. The points of a rank that dies or sends nothing for too long are assigned
/// to other ranks. Returns true if all points are complete. `take`: as in sim::PoolWork.
/// ERRORS: this process cannot listen, or cannot publish its address.
core::Expected<bool> lead_sweep(
    PartInRun& part, const SharedSweep& sweep, const std::vector<std::int64_t>& points,
    const std::function<bool(std::int64_t, const core::Outcome&)>& take);

/// Called on all ranks except rank 0. Requests points from rank 0, and evaluates them until there
/// are no more points. Also ends if rank 0 reports that it considers this rank failed, because this
/// rank was silent for too long. If rank 0 considers this rank failed, a message is printed to
/// stderr, but no error is returned. Returns false if interrupted.
/// ERRORS: rank 0 does not answer, is gone, or sends nothing for too long; rank 0 executes another
/// sweep.
core::Expected<bool> help_sweep(const PartInRun& part, const SharedSweep& sweep);

}  // namespace tutti::tools
