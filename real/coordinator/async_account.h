#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <tuple>

#include "core/base/error.h"
#include "core/lowering/staleness.h"
#include "real/coordinator/worker_set.h"

namespace tutti::real {

/// Collects the reports of asynchronous workers for the coordinator. Checks that replicas have
/// received the values that servers sent, and collects the staleness of updates and the end times
/// of training steps.
class AsyncAccount {
 public:
  /// `workers`: the number of asynchronous workers, or 0 if workers are synchronous. `steps`: the
  /// number of training steps of each worker.
  AsyncAccount(std::int64_t workers, std::int32_t steps) : steps_(steps), paces_(workers) {}

  /// Adds the reports that all workers send after a batch of training steps. `name` returns the
  /// name of a worker for error messages. ERRORS: a replica has read a value that its server did
  /// not send; a reported count is impossible.
  core::Expected<void> take(const WorkerSet::Messages& ready,
                            const std::function<std::string(std::size_t)>& name);
  /// Records the start and the end of a worker's training step, in nanoseconds of the coordinator's
  /// clock.
  void step_ended(std::int64_t worker, std::int32_t step, std::int64_t start_ns,
                  std::int64_t end_ns);
  /// Records that all steps of a batch have been passed to step_ended(). Workers begin the next
  /// batch together, so steps that are passed to step_ended() later have also ended later.
  void batch_ended();
  /// Returns a summary of the asynchronous updates, with the same wording as the summary of a
  /// simulated run.
  [[nodiscard]] std::string describe() const { return paces_.describe(behind_); }

 private:
  std::int32_t steps_;
  core::UpdatesBehind behind_;
  core::AsyncServersList paces_;
  /// The training steps of the current batch that have ended. An entry consists of the end time in
  /// nanoseconds, the worker and the step number.
  std::set<std::tuple<std::int64_t, std::int64_t, std::int32_t>> ends_;
  std::int64_t began_ns_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace tutti::real
