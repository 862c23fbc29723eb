#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// A snapshot of the state of the simulation and of its counters. Times are relative to `at`, so
/// that snapshots of different rounds can be compared.
struct StateSnapshot {
  core::Time at;
  std::vector<std::int64_t> same, counted, numbered, recorded;
  std::vector<int> bits;               ///< bit width of each entry of `numbered`
  std::vector<std::int64_t> progress;  ///< number of completed steps of each lane
  LinkLoads::Totals carried;           ///< bytes that each link has carried so far
  bool fit = true;
};

/// Returns a snapshot at `now`. `visit` must pass the whole state to the visitor.
StateSnapshot snapshot_of(core::Time now, const std::function<void(StateVisitor&)>& visit);

}  // namespace tutti::sim
