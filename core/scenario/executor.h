#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// The selection of what to record of a run. The number of spans is limited by default; the run's
/// notes state what was left out.
struct RecordOptions {
  RecordLevel level = RecordLevel::kPacks;
  std::int64_t first_worker = 0;
  std::int64_t last_worker = 15;
  Time from;
  Time to = kNever;
  std::int64_t most_spans = 2'000'000;
};

/// Progress and cancellation of a run.
struct RunControl {
  /// Set it from any thread or signal handler: the run stops soon and keeps what it has.
  const std::atomic<bool>* cancel = nullptr;
  /// Called from time to time with the completed share, 0 … 1.
  std::function<void(double)> progress;
  /// A simulation stops, as if cancelled, soon after this virtual time. Real runs have `cancel`.
  Time until = kNever;
};

/// Runs a scenario and records it. The simulator and the real run implement it; commands and the
/// window depend on nothing else of them.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Feeds `sink` up to and including end(), even if it is cancelled (a note says so).
  /// ERRORS: the run failed (kRun), or is impossible (kRequest).
  virtual Expected<void> run(const Scenario& scenario, const RecordOptions& record,
                             const RunControl& control, TimelineSink& sink) = 0;
};

}  // namespace tutti::core
