#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// The options that select which part of a run is recorded. The number of spans is limited; the
/// notes of the run state what was omitted.
struct RecordOptions {
  RecordLevel level = RecordLevel::kPacks;
  std::int64_t first_worker = 0;
  std::int64_t last_worker = 15;
  Time from;
  Time to = kNever;
  std::int64_t most_spans = 2'000'000;
};

/// Callbacks and limits that control a run.
struct RunControl {
  /// Any thread or signal handler may set this flag to true. After the flag is set, the run stops
  /// soon and keeps the records that were already made.
  const std::atomic<bool>* cancel = nullptr;
  /// Called regularly with the completed share of the run (0 … 1).
  std::function<void(double)> progress;
  /// The virtual time after which a simulation stops as if it were cancelled. Real runs ignore it.
  Time until = kNever;
};

/// Runs scenarios and records the runs. The simulator and real runs implement this interface;
/// commands and the window use them only through it.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs a scenario. Writes all records to `sink`, up to and including end(). If the run is
  /// cancelled, a note says so. ERRORS: the run failed (kRun), or is impossible (kRequest).
  virtual Expected<void> run(const Scenario& scenario, const RecordOptions& record,
                             const RunControl& control, TimelineSink& sink) = 0;
};

}  // namespace tutti::core
