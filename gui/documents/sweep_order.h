#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "core/explore/sweep_store.h"
#include "core/scenario/library.h"

namespace tutti::gui {

/// A request to run a sweep, or to search for the best of its points.
struct SweepOrder {
  /// The sweep; a search without axes varies the usual fields of the strategy.
  core::SweepInfo info;
  std::string file;  ///< results file; points that it already contains are not run again
  bool search = false;
  std::int64_t evaluations = 100;  ///< for a search: maximum number of evaluations
};

/// Progress reporting and cancellation of a sweep.
struct SweepWatch {
  const std::atomic<bool>* cancel = nullptr;
  std::function<void()> begun;           ///< called when the file has been created and can be read
  std::function<void(double)> progress;  ///< called with the completed share, from 0 to 1
};

/// A function that runs sweeps; passed in by the program, like backends. To be called in a thread
/// of its own. Returns true if everything was completed. ERRORS: the file contains something else;
/// the scenario has problems; the disk is full.
using SweepRunner =
    std::function<core::Expected<bool>(const SweepOrder&, const core::Library&, const SweepWatch&)>;

}  // namespace tutti::gui
