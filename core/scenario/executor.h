#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "core/base/error.h"
#include "core/scenario/scenario.h"
#include "core/timeline/timeline.h"

namespace tutti::core {

/// What to record of a run. Bounded by default; what was left out is said in the run's notes.
struct RecordOptions {
  RecordLevel level = RecordLevel::kPacks;
  std::int64_t first_worker = 0;
  std::int64_t last_worker = 15;
  Time from;
  Time to = kNever;
  std::int64_t most_spans = 2'000'000;
};

/// How a run is watched and stopped from outside.
struct RunControl {
  /// Set from anywhere (a signal handler too): the run stops soon and keeps what it has.
  const std::atomic<bool>* cancel = nullptr;
  /// Called now and then with the share that is done, 0 … 1.
  std::function<void(double)> progress;
  /// Of a simulation: soon after this virtual time it stops as if cancelled. Real runs have
  /// `cancel`.
  Time until = kNever;
};

/// Runs a scenario and writes down what happened. Implemented by the simulator and by the real run;
/// commands and the window see nothing else of them.
class Executor {
 public:
  virtual ~Executor() = default;
  /// Feeds `sink` up to and including end(), also when cancelled (the notes say so).
  /// ERRORS: the run failed (kRun), or cannot be done (kRequest).
  virtual Expected<void> run(const Scenario& scenario, const RecordOptions& record,
                             const RunControl& control, TimelineSink& sink) = 0;
};

}  // namespace tutti::core
