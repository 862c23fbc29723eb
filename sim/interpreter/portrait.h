#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "sim/engine/state_visitor.h"
#include "sim/network/link_loads.h"

namespace tutti::sim {

/// What of a simulation is as it was a round before, and what has been counted meanwhile.
struct Portrait {
  core::Time at;
  std::vector<std::int64_t> same, counted, numbered, told;
  std::vector<int> bits;               ///< of what is numbered
  std::vector<std::int64_t> progress;  ///< by lane
  LinkLoads::Totals carried;           ///< by link
  bool fit = true;
};

/// What `visit` shows a visitor at `now`.
Portrait portrait_of(core::Time now, const std::function<void(StateVisitor&)>& visit);

}  // namespace tutti::sim
