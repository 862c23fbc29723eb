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

/// The options to execute, watch and stop a sweep.
struct SweepCourse {
  int threads = 1;
  /// Called on the calling thread, now and then; returns true to stop.
  std::function<bool()> stop = {};
  /// Called on the calling thread, after every point, with the number of completed points, of all
  /// points, and of those that were complete before.
  std::function<void(std::int64_t there, std::int64_t in_all, std::int64_t before)> progress = {};
  /// Executes the work; by default run_pool() in this process. Returns true if all points are
  /// done.
  std::function<core::Expected<bool>(const PoolWork&)> pool = {};
};

/// Evaluates the points that are missing in the sweep's file, with `set` applied to the sweep's
/// text. Returns true if all points are there now.
/// ERRORS: a file used earlier by the sweep has changed; the disk is full.
core::Expected<bool> execute_points(core::SweepStore& store, const core::Library& library,
                                    const std::vector<core::Override>& set,
                                    core::Executor& executor, const SweepCourse& course);

/// ERRORS (kRequest): a file used by the sweep has changed.
core::Expected<void> check_files(core::SweepStore& store, const core::Library& library);
/// Stores the files that the evaluator has read since the last call. ERRORS: as execute_points().
core::Expected<void> keep_files(core::SweepStore& store, Evaluator& evaluator);

}  // namespace tutti::sim
