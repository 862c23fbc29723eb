#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "core/edit/overrides.h"
#include "core/explore/sweep_store.h"
#include "core/scenario/executor.h"
#include "core/scenario/library.h"
#include "sim/sweep/crowd.h"

namespace tutti::sim {

class Evaluator;

/// How a sweep is carried out, watched and stopped.
struct SweepCourse {
  int threads = 1;
  /// On the calling thread, now and then; true: stop.
  std::function<bool()> stop = {};
  /// On the calling thread, after every point: how many are there now, of all, and how many were there before.
  std::function<void(std::int64_t there, std::int64_t in_all, std::int64_t before)> progress = {};
  /// Who does it; none: run_crowd() in this process. It answers whether all points are done.
  std::function<core::Expected<bool>(const CrowdWork&)> crowd = {};
};

/// Does the points that the sweep's file does not have yet, `set` on top of the sweep's text. Answers whether all are there now.
/// ERRORS: a file that went into the sweep before is not what it was; the disk is full.
core::Expected<bool> carry_out(core::SweepStore& store, const core::Library& library,
                               const std::vector<core::Override>& set, core::Executor& executor,
                               const SweepCourse& course);

/// ERRORS (kRequest): a file that went into the sweep is not what it was.
core::Expected<void> check_files(core::SweepStore& store, const core::Library& library);
/// Keeps what the evaluator has read since it was last asked. ERRORS: likewise.
core::Expected<void> keep_files(core::SweepStore& store, Evaluator& evaluator);

}  // namespace tutti::sim
