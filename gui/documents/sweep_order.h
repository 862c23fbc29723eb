#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "core/explore/sweep_store.h"
#include "core/scenario/library.h"

namespace tutti::gui {

/// A request to run all points of a sweep, or to search for the best point.
struct SweepOrder {
  /// The scenario and the axes of the sweep. A search without axes varies the usual fields of the
  /// strategy.
  core::SweepInfo info;
  std::string file;  ///< the results file; points that are already in the file are not run again
  bool search = false;
  std::int64_t evaluations = 100;  ///< for a search: the maximum number of evaluations
};

/// Progress reporting and cancellation of a sweep.
struct SweepWatch {
  const std::atomic<bool>* cancel = nullptr;
  std::function<void()> begun;  ///< called as soon as the file can be read
  /// Called with the completed fraction of the points, from 0 to 1.
  std::function<void(double)> progress;
};

/// A function that runs sweeps. The program passes this function to the window, so that the
/// window's code does not depend on the simulator. To be called in a separate thread. Returns true
/// if all points were completed. ERRORS: the file has the results of another sweep; the scenario
/// has problems; the disk is full.
using SweepRunner =
    std::function<core::Expected<bool>(const SweepOrder&, const core::Library&, const SweepWatch&)>;

}  // namespace tutti::gui
