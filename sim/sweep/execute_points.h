#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/edit/overrides.h"
#include "core/explore/sweep_store.h"
#include "core/scenario/executor.h"
#include "core/scenario/library.h"
#include "sim/sweep/pool.h"

namespace tutti::sim {

class Evaluator;

/// Options and callbacks for the execution of a sweep.
struct SweepControl {
  int threads = 1;
  /// Called regularly on the thread of the caller; returns true if the execution has to stop.
  std::function<bool()> stop = {};
  /// Called if threads have not ended half a second after `stop` has returned true
  /// (PoolWork::waiting).
  std::function<void()> waiting = {};
  /// Called on the thread of the caller after every point. `there` is the number of completed
  /// points, `in_all` the total number, and `before` the number of points that were already
  /// complete when the execution began.
  std::function<void(std::int64_t there, std::int64_t in_all, std::int64_t before)> progress = {};
  /// Executes the work and returns true if all points are done. If this function is empty,
  /// run_pool() executes the work in this process.
  std::function<core::Expected<bool>(const PoolWork&)> pool = {};
};

/// Evaluates all points that have no result in the sweep's file, and stores their results. The
/// overrides `set` are applied to the sweep's scenario. Returns true if the file then has the
/// results of all points. ERRORS: a file that the sweep has used before has changed; the disk is
/// full.
core::Expected<bool> execute_points(core::SweepStore& store, const core::Library& library,
                                    const std::vector<core::Override>& set,
                                    core::Executor& executor, const SweepControl& course);

/// Checks that the files that the sweep uses are unchanged. ERRORS (kRequest): a file has changed.
core::Expected<void> check_files(core::SweepStore& store, const core::Library& library);
/// Stores in the sweep the files that the evaluator has read since the last call. ERRORS: those of
/// execute_points().
core::Expected<void> keep_files(core::SweepStore& store, Evaluator& evaluator);

}  // namespace tutti::sim
