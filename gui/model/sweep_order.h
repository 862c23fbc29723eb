#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

#include "core/explore/sweep_store.h"
#include "core/scenario/library.h"

namespace tutti::gui {

/// A sweep to be run, or a search for the best of its points.
struct SweepOrder {
  core::SweepInfo info;  ///< without axes, a search varies what is usual for the strategy
  std::string file;      ///< where results go; what is there already is not done again
  bool search = false;
  std::int64_t evaluations = 100;  ///< of a search: at most
};

/// How it is watched and stopped from outside.
struct SweepWatch {
  const std::atomic<bool>* cancel = nullptr;
  std::function<void()> begun;           ///< the file is there: whoever wants to may read along
  std::function<void(double)> progress;  ///< the share that is done, 0 … 1
};

/// What runs sweeps; handed in by the program, as backends are. To be called in a thread of its own. Answers whether all was done.
/// ERRORS: the file holds something else; the scenario has problems; the disk is full.
using SweepRunner = std::function<core::Expected<bool>(const SweepOrder&, const core::Library&, const SweepWatch&)>;

}  // namespace tutti::gui
