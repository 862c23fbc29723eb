#pragma once

#include <string>

#include "core/scenario/scenario.h"

namespace tutti::core {

/// The predicted time of a pack's collective by the formulas of docs/algorithms.md, which assume
/// that only the ports at both ends of every message limit it.
struct ClosedForm {
  std::string form;   ///< formula: "2(n - 1)(α + wire(C)) + (n - 1)·add(C)"
  std::string where;  ///< its variables: "n = 16 ranks, C = 1.64 MB"
};
/// Returns the closed form for `pack` of the scenario's plan. Its value equals the simulator's time
/// under the network model `ideal`, to the picosecond (tests/laws). `form` is empty if the
/// algorithm has no closed form, only a recursion.
ClosedForm closed_form(const Scenario& scenario, const Pack& pack);

}  // namespace tutti::core
