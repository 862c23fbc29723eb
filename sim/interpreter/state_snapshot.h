#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// A snapshot of the simulation's state, with times relative to `at`, and of its counters. Each
/// snapshot is compared with the snapshot of the previous round.
struct StateSnapshot {
  core::Time at;
  std::vector<std::int64_t> same, counted, numbered, recorded;
  std::vector<int> bits;               ///< bit widths of the entries of `numbered`
  std::vector<std::int64_t> progress;  ///< by lane: number of completed steps
  LinkLoads::Totals carried;           ///< by link: bytes carried so far
  bool fit = true;
};

/// Returns the snapshot at `now` of the state that `visit` passes to a visitor.
StateSnapshot snapshot_of(core::Time now, const std::function<void(StateVisitor&)>& visit);

}  // namespace tutti::sim
