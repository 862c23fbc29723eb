#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// Selects what is recorded of a run: the level of detail, the workers, the times, and the maximum
/// number of spans. If a part of the run is not recorded, a note of the run says so.
struct RecordOptions {
  RecordLevel level = RecordLevel::kPacks;
  std::int64_t first_worker = 0;
  std::int64_t last_worker = 15;
  Time from;
  Time to = kNever;
  std::int64_t most_spans = 2'000'000;
};

/// Callbacks and limits that the caller passes to a run.
struct RunControl {
  /// To cancel the run, the caller may set this flag to true, from any thread or signal handler. A
  /// cancelled run stops soon and keeps what it has recorded.
  const std::atomic<bool>* cancel = nullptr;
  /// Called from time to time with the fraction of the run that is done (0 … 1).
  std::function<void(double)> progress;
  /// The virtual time at which a simulation stops, as if it were cancelled at this time. The sink
  /// may change `until` during the run. Real runs ignore `until`.
  Time until = kNever;
};

/// The interface of programs that run scenarios and record their timelines. The simulator and real
/// runs are its two implementations. Commands and the window run scenarios only through this
/// interface.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs a scenario. Writes all records of the run to `sink`, up to and including end(). If the
  /// run is cancelled, a note in the records says so. ERRORS: the run failed (kRun), or the
  /// executor cannot run the scenario (kRequest).
  virtual Expected<void> run(const Scenario& scenario, const RecordOptions& record,
                             const RunControl& control, TimelineSink& sink) = 0;
};

}  // namespace tutti::core
