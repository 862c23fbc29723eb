#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// A snapshot of the simulation's state, relative to its time, to be compared with that of the
/// previous round; and the counters at that time.
struct StateSnapshot {
  core::Time at;
  std::vector<std::int64_t> same, counted, numbered, told;
  std::vector<int> bits;               ///< bit widths of the entries of `numbered`
  std::vector<std::int64_t> progress;  ///< by lane: number of completed steps
  LinkLoads::Totals carried;           ///< by link: bytes carried so far
  bool fit = true;
};

/// Returns the snapshot of the state that `visit` shows a visitor at `now`.
StateSnapshot snapshot_of(core::Time now, const std::function<void(StateVisitor&)>& visit);

}  // namespace tutti::sim
