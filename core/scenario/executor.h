#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// The part of a run that is recorded. The number of spans is limited; the run's notes state what
/// was left out.
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
  /// May be set to true by any thread or signal handler. The run then stops soon, and its records
  /// so far are kept.
  const std::atomic<bool>* cancel = nullptr;
  /// Called now and then with the completed share of the run (0 … 1).
  std::function<void(double)> progress;
  /// A simulation stops soon after this virtual time, as if it were cancelled. Real runs ignore it.
  Time until = kNever;
};

/// Runs scenarios and records the runs. The simulator and real runs implement this interface;
/// commands and the window use them only through it.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Runs a scenario. Writes all records to `sink`, up to and including end(), even if the run is
  /// cancelled (a note then says so).
  /// ERRORS: the run failed (kRun), or is impossible (kRequest).
  virtual Expected<void> run(const Scenario& scenario, const RecordOptions& record,
                             const RunControl& control, TimelineSink& sink) = 0;
};

}  // namespace tutti::core
